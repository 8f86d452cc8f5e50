package myjob

import (
	"errors"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

type result = metacontroller.Result[Status]

// sync asks for the Pod until it has been seen, and then reports on it.
func sync(job *MyJob, seen metacontroller.Observed) (result, error) {
	if len(job.Spec.Template.Spec.Containers) == 0 {
		return result{}, errors.New("spec.template.spec.containers is missing: write the container that shall run")
	}
	pod, err := metacontroller.Get[observedPod](seen.Children, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind, job.Name)
	if err != nil {
		return result{}, err
	}
	conditions := operator.NewConditions(job.Status.Conditions, job.Generation, seen.Now)
	hasSeen := job.Status.PodName != "" || job.Status.Phase == PhaseRunning
	switch {
	case job.Status.isShown():
		return completed(job, job.Status, pod, conditions, seen.Now), nil
	case pod == nil && job.Status.Phase == PhaseCompleted:
		return unknown(job, conditions), nil
	case pod == nil && !hasSeen:
		return asked(job, seen, conditions)
	case pod != nil && !hasSeen && pod.isOlder(job):
		return blocked(pod, conditions), nil
	default:
		return watched(job, pod, conditions, seen.Now), nil
	}
}

// asked asks for a Pod that has never been seen.
func asked(job *MyJob, seen metacontroller.Observed, conditions *operator.Conditions) (result, error) {
	wanted := []metacontroller.Object{pod(job)}
	differs, err := seen.Compare(wanted)
	if err != nil {
		return result{}, err
	}
	report := conditions.ReportChildren(differs, job.Status.PendingChildren)
	conditions.Judge(report.Judgement)
	return result{
		Status:      Status{Phase: PhasePending, Conditions: conditions.List(), PendingChildren: report.Pending},
		Children:    wanted,
		ResyncAfter: report.ResyncAfter,
	}, nil
}
