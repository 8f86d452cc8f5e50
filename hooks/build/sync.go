package build

import (
	"errors"

	"github.com/operetta-dev/operetta/metacontroller"
)

type result = metacontroller.Result[Status]

// sync asks for the Job of the newest spec until its result is known, when no
// other is in the way.
func sync(build *Build, seen metacontroller.Observed) (result, error) {
	if err := check(build); err != nil {
		return result{}, err
	}
	hash, err := hashOf(build)
	if err != nil {
		return result{}, err
	}
	there, err := observe(build, hash, seen)
	if err != nil {
		return result{}, err
	}
	s := state{build, there, remember(build, there, hash), hash, seen.Now}
	plan := decide(s)
	var wanted []metacontroller.Object
	if plan.make {
		wanted = []metacontroller.Object{job(build, hash)}
	}
	differs, err := seen.Compare(wanted)
	if err != nil {
		return result{}, err
	}
	differs.Missing = append(differs.Missing, plan.missing...)
	status, resync := report(s, plan, differs)
	return result{Status: status, Children: append(plan.kept, wanted...), ResyncAfter: resync}, nil
}

// check refuses what the schema would, for a request that has not passed it.
func check(build *Build) error {
	switch {
	case build.Spec.Source.Git.URL == "":
		return errors.New("spec.source.git.url is missing: write the address of the repository")
	case build.Spec.Source.Git.Revision == "":
		return errors.New("spec.source.git.revision is missing: write a branch, a tag or a commit")
	}
	for _, step := range steps(&build.Spec) {
		if step.Image == "" {
			return errors.New("spec.image is missing: write the image that builds, or steps of which each has one")
		}
	}
	return nil
}
