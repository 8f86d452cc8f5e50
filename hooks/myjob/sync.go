package myjob

import (
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync asks for the Pod of an attempt until it has been seen, and keeps it until the end of the
// MyJob has been told and its time to live is over.
func sync(job *MyJob, request metacontroller.Observed) (result, error) {
	observed, err := observe(job, request)
	if err != nil {
		return result{}, err
	}
	plan := decide(job, observed, request.Now)
	var wanted []metacontroller.Object
	if plan.stage == starting {
		wanted = []metacontroller.Object{pod(job, plan.attempt)}
	}
	differs, err := request.Compare(wanted)
	if err != nil {
		return result{}, err
	}
	report := operator.NewReport(job, job.Status.Status, request, differs)
	status := state{job, observed, plan, request.Now}.report(report)
	return operator.Answer(report, job.Status, status, append(plan.kept, wanted...), plan.again), nil
}
