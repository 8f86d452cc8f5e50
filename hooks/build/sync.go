package build

import (
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync asks for the Job of the newest spec until its result is known, once no
// other Job is in the way.
func (p Policy) sync(build *Build, request metacontroller.Observed) (result, error) {
	hash, err := hashOf(build)
	if err != nil {
		return result{}, err
	}
	observed, err := observe(build, hash, request)
	if err != nil {
		return result{}, err
	}
	s := state{build, observed, remember(build, observed, hash), hash, request.Now, operator.SeeWhy("build", build, request)}
	plan := decide(s)
	var wanted []metacontroller.Object
	if plan.make {
		wanted = []metacontroller.Object{p.job(build, hash)}
	}
	differs, err := request.Compare(wanted)
	if err != nil {
		return result{}, err
	}
	differs.Missing = append(differs.Missing, plan.missing...)
	report := operator.NewReport(build, build.Status.Status, request, differs)
	return operator.Answer(report, build.Status, s.report(plan, report), append(plan.kept, wanted...), plan.resyncAfter), nil
}
