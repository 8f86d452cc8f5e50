// Command operetta-server serves the operators of this repository as webhooks of
// Metacontroller. In the image it is called operetta.
package main

import (
	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/serve"
)

func main() { serve.Main(hooks.All()...) }
