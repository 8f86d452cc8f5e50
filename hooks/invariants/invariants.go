// Package invariants lists what exploration and simulation know of the operators. The server
// has none of it.
package invariants

import (
	build "github.com/operetta-dev/operetta/hooks/build/invariants"
	dataservice "github.com/operetta-dev/operetta/hooks/dataservice/invariants"
	modelbox "github.com/operetta-dev/operetta/hooks/modelbox/invariants"
	myjob "github.com/operetta-dev/operetta/hooks/myjob/invariants"
	podbuggertool "github.com/operetta-dev/operetta/hooks/podbuggertool/invariants"
	podset "github.com/operetta-dev/operetta/hooks/podset/invariants"
	"github.com/operetta-dev/operetta/simulation"
)

// All returns what is told of every operator.
func All() simulation.Kinds {
	return simulation.Kinds{
		"build":         {Invariants: build.Invariants()},
		"dataservice":   {Invariants: dataservice.Invariants()},
		"modelbox":      {Invariants: modelbox.Invariants()},
		"myjob":         {Invariants: myjob.Invariants()},
		"podbuggertool": {Invariants: podbuggertool.Invariants(), Workload: podbuggertool.Workload},
		"podset":        {Invariants: podset.Invariants()},
	}
}
