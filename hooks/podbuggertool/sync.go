package podbuggertool

import (
	"errors"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync asks for a Job for every Pod that shall get the container and, as long as
// one has work left, for what allows the Jobs that work.
func sync(tool *PodBuggerTool, seen metacontroller.Observed) (result, error) {
	if tool.Spec.Image == "" {
		return result{}, errors.New("spec.image is missing: write the image of the debug container")
	}
	o, err := observe(tool, seen)
	if err != nil {
		return result{}, err
	}
	candidates, err := examine(tool, o)
	if err != nil {
		return result{}, err
	}
	plan := decide(tool, candidates, seen.Now)
	list, look := plan.follow(o, seen.Now)

	memory := o.memory
	stay, err := memory.remember(tool, o, plan, seen.Now)
	if err != nil {
		return result{}, err
	}
	wanted := children(tool, o, plan, stay)
	differs, err := seen.Compare(wanted)
	if err != nil {
		return result{}, err
	}
	conditions := operator.NewConditions(tool.Status.Conditions, tool.Generation, seen.Now)
	reported := conditions.ReportChildren(differs, tool.Status.PendingChildren)
	status := report(list)
	isStuck := slices.ContainsFunc(candidates, func(c *candidate) bool { return c.stuck })
	conditions.Judge(reported.With(judge(&status, isStuck)))
	if len(memory.pods) > 0 {
		status.FailedPods, status.Recipe = memory.pods, memory.recipe
	}
	if len(stay) > 0 {
		look = operator.Soonest(look, time.Second) // for the request that shows the status
	}
	status.Conditions, status.PendingChildren = conditions.List(), reported.Pending
	return result{Status: status, Children: wanted, ResyncAfter: operator.Soonest(look, reported.ResyncAfter)}, nil
}

// children returns what the Jobs need, and the Jobs. One is created when its
// access is seen to be there, for Metacontroller applies children in no
// particular order; one that exists stays whatever has become of its access.
func children(tool *PodBuggerTool, o observed, plan plan, stay []*observedJob) []metacontroller.Object {
	var names []string
	var jobs []metacontroller.Object
	for _, c := range plan.candidates {
		if plan.named[c] {
			names = append(names, c.pod.Name)
		}
		switch {
		case !plan.chosen[c]:
		case c.job != nil: // its name says what it does, and its form may be that of an older version
			jobs = append(jobs, metacontroller.Keep(c.job.Snapshot))
		case plan.isMade(c):
			jobs = append(jobs, job(tool, c.pod, c.jobName))
		}
	}
	for _, job := range stay {
		jobs = append(jobs, metacontroller.Keep(job.Snapshot))
	}
	slices.Sort(names)
	return append(access(tool, names, o.hasAccount), jobs...)
}
