// Package hooks lists the operators.
package hooks

import (
	"github.com/operetta-dev/operetta/hooks/build"
	"github.com/operetta-dev/operetta/hooks/dataservice"
	"github.com/operetta-dev/operetta/hooks/modelbox"
	"github.com/operetta-dev/operetta/hooks/myjob"
	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/metacontroller"
)

// All returns every operator, in the order in which the documentation and the
// generated manifests list them.
func All() []metacontroller.Controller {
	return []metacontroller.Controller{
		build.Controller(),
		dataservice.Controller(),
		modelbox.Controller(),
		myjob.Controller(),
		podbuggertool.Controller(),
		podset.Controller(),
	}
}
