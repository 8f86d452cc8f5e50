package podset

import (
	"errors"

	"github.com/operetta-dev/operetta/metacontroller"
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
	bounds, err := boundsOf(template)
	if err != nil {
		return result{}, err
	}
	plan := decide(set, observed, bounds, request.Now)
	fresh := freshPods(set, plan, template)
	differs, err := request.Compare(fresh)
	if err != nil {
		return result{}, err
	}
	status, resync := report(state{set, observed, bounds, plan, request.Now}, differs)
	children := plan.kept()
	if !plan.held {
		children = append(children, fresh...)
	}
	return result{Status: status, Children: children, ResyncAfter: resync}, nil
}
