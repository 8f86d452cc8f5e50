package podset

import (
	"errors"

	"github.com/operetta-dev/operetta/metacontroller"
)

type result = metacontroller.Result[Status]

// sync keeps the Pods that stay and asks for those that are missing.
func sync(set *PodSet, seen metacontroller.Observed) (result, error) {
	if err := check(set); err != nil {
		return result{}, err
	}
	hash, err := templateHash(set)
	if err != nil {
		return result{}, err
	}
	there, err := observe(set, seen, hash)
	if err != nil {
		return result{}, err
	}
	bounds, err := boundsOf(set, hash)
	if err != nil {
		return result{}, err
	}
	plan := decide(set, there, bounds, seen.Now)
	fresh := freshPods(set, plan, hash)
	differs, err := seen.Compare(fresh)
	if err != nil {
		return result{}, err
	}
	status, resync := report(state{set, there, bounds, plan, seen.Now}, differs)
	children := plan.kept()
	if !plan.held {
		children = append(children, fresh...)
	}
	return result{Status: status, Children: children, ResyncAfter: resync}, nil
}

// check refuses what the schema would, for a request that has not passed it:
// without a size, every Pod would be one too many.
func check(set *PodSet) error {
	switch {
	case set.Spec.Size == nil || *set.Spec.Size < 0:
		return errors.New("spec.size is missing: write how many Pods are wanted, 0 for none")
	case set.Spec.Template != nil && len(set.Spec.Template.Spec.Containers) == 0:
		return errors.New("spec.template.spec.containers is missing: write the container that the Pods shall run, or leave spec.template out")
	}
	return nil
}
