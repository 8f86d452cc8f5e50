// Command examples serves Metacontroller's example operators as webhooks, and shows what
// they do without a cluster.
package main

import (
	"github.com/operetta-dev/operetta"

	"example.com/metacontroller/examples/hooks"
	"example.com/metacontroller/examples/hooks/invariants"
)

func main() { operetta.MainWith(invariants.All(), hooks.All()...) }
