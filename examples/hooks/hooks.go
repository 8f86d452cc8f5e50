// Package hooks lists the operators.
package hooks

import (
	"example.com/metacontroller/examples/hooks/bluegreendeployment"
	"example.com/metacontroller/examples/hooks/catset"
	"example.com/metacontroller/examples/hooks/indexedjob"

	"github.com/operetta-dev/operetta/metacontroller"
)

// All returns every operator.
func All() []metacontroller.Controller {
	return []metacontroller.Controller{
		bluegreendeployment.Controller(),
		catset.Controller(),
		indexedjob.Controller(),
	}
}
