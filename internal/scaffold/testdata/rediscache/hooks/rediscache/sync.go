package rediscache

import (
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// sync asks for the ConfigMap, the Service and the StatefulSet, and reports on those observed.
func sync(parent *RedisCache, request metacontroller.Observed) (metacontroller.Result[Status], error) {
	found, err := observe(parent, request)
	if err != nil {
		return metacontroller.Result[Status]{}, err
	}
	wanted, err := children(parent)
	if err != nil {
		return metacontroller.Result[Status]{}, err
	}
	differs, err := request.Compare(wanted)
	if err != nil {
		return metacontroller.Result[Status]{}, err
	}
	report := operator.NewReport(parent, parent.Status.Status, request, differs)
	report.SetSummary(report.With(found.set.Rollout().Summary()))
	return operator.Answer(report, parent.Status, status(found), wanted), nil
}
