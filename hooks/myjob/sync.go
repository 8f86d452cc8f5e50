package myjob

import (
	"errors"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync asks for the Pod until it has been seen, and keeps it until its end has been
// told and its time to live is over.
func sync(job *MyJob, request metacontroller.Observed) (result, error) {
	if err := check(job); err != nil {
		return result{}, err
	}
	observed, err := observe(job, request)
	if err != nil {
		return result{}, err
	}
	plan := decide(job, observed, request.Now)
	var wanted []metacontroller.Object
	if plan.make {
		wanted = []metacontroller.Object{pod(job)}
	}
	differs, err := request.Compare(wanted)
	if err != nil {
		return result{}, err
	}
	status, resync := report(state{job, observed, plan, request.Now}, differs)
	asked := operator.NewConditions(job.Status.Conditions, job.Generation, request.Now).
		BackOffRejected(wanted, differs, job.Status.PendingChildren, request.Children)
	return result{Status: status, Children: append(plan.kept, asked...), ResyncAfter: resync}, nil
}

// check refuses what the schema would, for a request that has not passed it.
func check(job *MyJob) error {
	if len(job.Spec.Template.Spec.Containers) == 0 {
		return errors.New("spec.template.spec.containers is missing: write the container that shall run")
	}
	return nil
}
