package podset

import (
	"errors"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync keeps the Pods that stay and creates missing ones.
func (p Policy) sync(set *PodSet, request metacontroller.Observed) (result, error) {
	if set.Spec.Size == nil { // every Pod would be deleted
		return result{}, errors.New("spec.size is missing: write how many Pods are wanted, 0 for none")
	}
	hash, err := templateHash(set)
	if err != nil {
		return result{}, err
	}
	observed, err := observe(set, request, hash)
	if err != nil {
		return result{}, err
	}
	template := p.podTemplate(set, hash)
	most, err := mostPods(template)
	if err != nil {
		return result{}, err
	}
	plan := decide(set, observed, most, request.Now)
	fresh := freshPods(set, plan, template)
	differs, err := request.Compare(fresh)
	if err != nil {
		return result{}, err
	}
	report := operator.NewReport(set, set.Status.Status, request, differs)
	status, resync := state{set, observed, most, plan, request.Now}.report(report)
	return operator.Answer(report, set.Status, status, append(plan.kept(), fresh...), resync), nil
}
