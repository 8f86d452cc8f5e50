package rediscache

import (
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observed is what the hook reads of the children. A child that does not exist is nil.
type observed struct {
	set *operator.Workload
}

// observe decodes the children that are read, once.
func observe(parent *RedisCache, request metacontroller.Observed) (observed, error) {
	kind := metacontroller.StatefulSet
	set, err := metacontroller.Get[operator.Workload](request.Children, kind.APIVersion, kind.Kind, parent.Name)
	return observed{set: set}, err
}
