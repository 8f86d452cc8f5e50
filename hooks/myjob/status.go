package myjob

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// reasonUnknown is that of a MyJob that has ended, as its status tells without telling how, and
// whose Pod is gone: another operator wrote that status. It never runs again all the same.
const reasonUnknown = "ResultUnknown"

// state is all that the status follows from.
type state struct {
	job      *MyJob
	observed observed
	plan     plan
}

// report tells how far the MyJob is.
func (s state) report(r *operator.Report) Status {
	pod := "Pod/" + s.job.Name
	observed := func(status metav1.ConditionStatus, reason, message string) {
		r.Set(operator.ConditionChildrenObserved, status, reason, message)
	}
	own := operator.Summary{State: operator.Progressing, Reason: "Running"}
	status := Status{Phase: PhaseRunning, PodName: s.job.Name, StartTime: s.observed.startTime(s.job)}
	switch s.plan.stage {
	case starting: // the report on the children tells
		status = Status{Phase: PhasePending}
	case blocked: // although the other Pod has become a child, the hook may not delete it, nor tell its end
		status = Status{Phase: PhasePending}
		own = operator.Summary{State: operator.Failed, Reason: operator.ReasonChildBlocked,
			Message: pod + " is older than the MyJob, and so not its own: delete that Pod, or write another name for the MyJob"}
		if s.observed.pod.Terminating {
			own = operator.Summary{State: operator.Progressing, Reason: operator.ReasonCreating,
				Message: pod + " may be older than the MyJob and is being deleted: the MyJob's own is made when it is gone"}
		}
		observed(metav1.ConditionFalse, "Absent", "asked for: "+pod)
	case running:
		own.Message = "the Pod has not finished: " + s.observed.pod.Status.Activity()
		observed(metav1.ConditionTrue, "AllObserved", "the Pod exists")
	case missing:
		own.Message = "the Pod is running, though not observed at the moment"
		observed(metav1.ConditionFalse, "Absent", "not observed any more: "+pod)
	case ended:
		status, own = s.plan.outcome, s.plan.outcome.judge()
		observed(metav1.ConditionTrue, "NothingMissing", "a completed MyJob asks for no Pod")
		if conditionType := map[Result]string{ResultSucceeded: "Complete", ResultFailed: "Failed"}[status.Result]; conditionType != "" {
			r.Set(conditionType, metav1.ConditionTrue, status.Reason, own.Message)
		}
	}
	r.SetSummary(r.With(own))
	return status
}

// IsProgressOf reports whether both say that the Pod is there and has not ended. Since when it
// has been missing is read by later syncs.
func (s Status) IsProgressOf(old Status) bool {
	return s.Phase == PhaseRunning && old.Phase == PhaseRunning && meta.IsStatusConditionTrue(old.Conditions, operator.ConditionChildrenObserved)
}

// judge tells how a MyJob has ended.
func (s *Status) judge() operator.Summary {
	if s.Result == "" {
		const message = "the status says that it has completed and not how, and the Pod is gone: create a new MyJob to run it again"
		return operator.Summary{State: operator.Failed, Reason: s.Reason, Message: message}
	}
	j := operator.Summary{State: operator.Failed, Reason: s.Reason, Message: "the Pod has failed: " + s.Reason}
	if s.Result == ResultSucceeded {
		j = operator.Summary{State: operator.Done, Reason: "Succeeded", Message: "the Pod has succeeded"}
	}
	if s.ExitCode != nil && *s.ExitCode != 0 {
		j.Message += fmt.Sprintf(", exit code %d", *s.ExitCode)
	}
	return j
}
