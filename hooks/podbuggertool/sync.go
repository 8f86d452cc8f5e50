package podbuggertool

import (
	"slices"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync asks for a Job for every Pod that should get the container and, while
// one has yet to run, for the Jobs' ServiceAccount, Role and RoleBinding.
func (p Policy) sync(tool *PodBuggerTool, request metacontroller.Observed) (result, error) {
	o, err := observe(tool, request)
	if err != nil {
		return result{}, err
	}
	candidates, err := p.candidatesOf(tool, o)
	if err != nil {
		return result{}, err
	}
	decide(tool, o, candidates, request.Now)
	wanted, err := p.children(tool, o, candidates)
	if err != nil {
		return result{}, err
	}
	differs, err := request.Compare(wanted)
	if err != nil {
		return result{}, err
	}
	var resync time.Duration
	for _, c := range candidates {
		resync = operator.Soonest(resync, c.again)
	}
	status := count(candidates)
	report := operator.NewReport(tool, tool.Status.Status, request, differs)
	report.SetSummary(report.With(withTold(judge(&status, candidates), candidates)))
	return operator.Answer(report, tool.Status, status, wanted, resync), nil
}

// children returns the access objects and the Jobs. A Job is created when its
// access is observed, because Metacontroller applies children in no particular
// order; an existing Job stays even if its access is gone.
func (p Policy) children(tool *PodBuggerTool, o observed, candidates []*candidate) ([]metacontroller.Object, error) {
	var names []string
	var jobs []metacontroller.Object
	for _, c := range candidates {
		if c.isNamed {
			names = append(names, c.pod.Name)
		}
		switch {
		case c.isKept && c.job != nil: // the name fixes its content, which an older version may have built differently
			jobs = append(jobs, metacontroller.Keep(c.job.Snapshot))
		case c.isMade:
			job, err := p.job(tool, c.pod, c.jobName)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, job)
		}
	}
	slices.Sort(names)
	return append(access(tool, names, o.hasRights), jobs...), nil
}
