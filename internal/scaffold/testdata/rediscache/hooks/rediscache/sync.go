package rediscache

import (
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// sync asks for the ConfigMap, the Service and the StatefulSet, and reports on those observed.
func sync(parent *RedisCache, request metacontroller.Observed) (metacontroller.Result[Status], error) {
	var result metacontroller.Result[Status]
	found, err := observe(parent, request)
	if err != nil {
		return result, err
	}
	wanted, err := children(parent)
	if err != nil {
		return result, err
	}
	differs, err := request.Compare(wanted)
	if err != nil {
		return result, err
	}
	conditions := operator.NewConditions(parent.Status.Conditions, parent.Generation, request.Now)
	result.Status, result.ResyncAfter = status(parent, found, differs, conditions)
	result.Children = conditions.BackOffRejected(wanted, differs, parent.Status.PendingChildren, request.Children)
	return result, nil
}
