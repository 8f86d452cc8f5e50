// Command operetta serves the operators of this repository as webhooks of
// Metacontroller, and shows what they do without a cluster.
package main

import (
	"github.com/operetta-dev/operetta"
	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
)

func main() { operetta.MainWith(invariants.All(), hooks.All()...) }
