// Package invariants lists what exploration is told of the operators.
package invariants

import (
	bluegreendeployment "example.com/metacontroller/examples/hooks/bluegreendeployment/invariants"
	catset "example.com/metacontroller/examples/hooks/catset/invariants"
	indexedjob "example.com/metacontroller/examples/hooks/indexedjob/invariants"

	"github.com/operetta-dev/operetta/simulation"
)

// All returns what is told of every operator.
func All() simulation.Kinds {
	return simulation.Kinds{
		"bluegreendeployment": {Invariants: bluegreendeployment.Invariants()},
		"catset":              {Invariants: catset.Invariants()},
		"indexedjob":          {Invariants: indexedjob.Invariants()},
	}
}
