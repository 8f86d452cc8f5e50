package dataservice

import "github.com/operetta-dev/operetta/metacontroller"

type result = metacontroller.Result[Status]

// sync asks for every component that has been started or whose time has come,
// and keeps what still has a successor to wait for.
func sync(ds *DataService, seen metacontroller.Observed) (result, error) {
	p, err := resolve(ds, table())
	if err != nil {
		return result{}, err
	}
	there, err := observe(seen)
	if err != nil {
		return result{}, err
	}
	plan, err := decide(p, there, seen)
	if err != nil {
		return result{}, err
	}
	status, resync := report(plan, seen.Now)
	return result{Status: status, Children: plan.children, ResyncAfter: resync}, nil
}
