package hooks

import (
	"github.com/operetta-dev/operetta/hooks/build"
	"github.com/operetta-dev/operetta/hooks/dataservice"
	"github.com/operetta-dev/operetta/hooks/modelbox"
	"github.com/operetta-dev/operetta/hooks/myjob"
	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/internal/promise"
)

// Promises returns what the operators promise beyond what holds for all.
func Promises() []promise.Promises {
	return []promise.Promises{
		build.Promises(),
		dataservice.Promises(),
		modelbox.Promises(),
		myjob.Promises(),
		podbuggertool.Promises(),
		podset.Promises(),
	}
}
