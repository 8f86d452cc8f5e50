package podbuggertool

import (
	"errors"

	"github.com/operetta-dev/operetta/metacontroller"
)

type result = metacontroller.Result[Status]

// sync asks for a Job for every Pod that shall get the container, and for what
// allows the Jobs their work.
func sync(tool *PodBuggerTool, seen metacontroller.Observed) (result, error) {
	if tool.Spec.Image == "" {
		return result{}, errors.New("spec.image is missing: write the image of the debug container")
	}
	world, err := observe(tool, seen)
	if err != nil {
		return result{}, err
	}
	candidates, err := examine(tool, world)
	if err != nil {
		return result{}, err
	}
	if err := ration(tool, candidates); err != nil {
		return result{}, err
	}
	look := follow(candidates, world, seen.Now)

	wanted := access(tool)
	for _, c := range candidates {
		switch {
		case !c.chosen:
		case c.job != nil: // its name says what it does, and its form may be that of an older version
			wanted = append(wanted, metacontroller.Keep(c.job.Snapshot))
		default:
			wanted = append(wanted, job(tool, c.pod, c.jobName))
		}
	}
	differs, err := seen.Compare(wanted)
	if err != nil {
		return result{}, err
	}
	conditions := metacontroller.NewConditions(tool.Status.Conditions, tool.Generation, seen.Now)
	settled, resync := conditions.Settle(differs)
	status := report(candidates)
	judge(conditions, settled, &status)
	status.Conditions = conditions.List()
	return result{Status: status, Children: wanted, ResyncAfter: earlier(look, resync)}, nil
}
