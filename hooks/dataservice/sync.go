package dataservice

import (
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync asks for every component that has been started or may start, and keeps
// old objects until their replacements are ready.
func (p Policy) sync(ds *DataService, request metacontroller.Observed) (result, error) {
	product, err := p.resolve(ds)
	if err != nil {
		return result{}, err
	}
	observed, err := observe(request)
	if err != nil {
		return result{}, err
	}
	plan, err := decide(product, observed, request)
	if err != nil {
		return result{}, err
	}
	report := operator.NewReport(ds, ds.Status.Status, request, plan.differs)
	return operator.Answer(report, ds.Status, plan.report(report), plan.children, plan.resyncAfter), nil
}
