package rediscache

import "github.com/operetta-dev/operetta/metacontroller"

// sync asks for the ConfigMap, the Service and the StatefulSet, and reports on those observed.
func sync(parent *RedisCache, seen metacontroller.Observed) (metacontroller.Result[Status], error) {
	var result metacontroller.Result[Status]
	found, err := observe(parent, seen)
	if err != nil {
		return result, err
	}
	if result.Children, err = children(parent); err != nil {
		return result, err
	}
	differs, err := seen.Compare(result.Children)
	if err != nil {
		return result, err
	}
	result.Status, result.ResyncAfter = status(parent, found, differs, seen.Now)
	return result, nil
}
