package rediscache

import "github.com/operetta-dev/operetta/metacontroller"

// sync asks for the ConfigMap, the Service and the StatefulSet, and reports on those observed.
func sync(parent *RedisCache, request metacontroller.Observed) (metacontroller.Result[Status], error) {
	var result metacontroller.Result[Status]
	found, err := observe(parent, request)
	if err != nil {
		return result, err
	}
	if result.Children, err = children(parent); err != nil {
		return result, err
	}
	differs, err := request.Compare(result.Children)
	if err != nil {
		return result, err
	}
	result.Status, result.ResyncAfter = status(parent, found, differs, request.Now)
	return result, nil
}
