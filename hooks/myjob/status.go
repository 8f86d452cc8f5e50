package myjob

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// reasonUnknown is that of a MyJob that has ended, as its status tells without telling
// how, and whose Pod is gone. The operator that wrote this status told no result. It
// never runs again all the same.
const reasonUnknown = "ResultUnknown"

// state is all that the status follows from.
type state struct {
	job      *MyJob
	observed observed
	plan     plan
}

// report tells how far the MyJob is.
func (s state) report(r *operator.Report) Status {
	own := judge(s)
	switch s.plan.stage {
	case starting: // the report on the children has set it
	case blocked:
		r.Set(operator.ConditionChildrenObserved, metav1.ConditionFalse, "Absent", "asked for: Pod/"+s.job.Name)
	case missing:
		r.Set(operator.ConditionChildrenObserved, metav1.ConditionFalse, "Absent", "not observed any more: Pod/"+s.job.Name)
	case running:
		r.Set(operator.ConditionChildrenObserved, metav1.ConditionTrue, "AllObserved", "the Pod exists")
	case ended:
		r.Set(operator.ConditionChildrenObserved, metav1.ConditionTrue, "NothingMissing", "a completed MyJob asks for no Pod")
		if conditionType := conditionOf(s.plan.outcome.Result); conditionType != "" {
			r.Set(conditionType, metav1.ConditionTrue, s.plan.outcome.Reason, own.Message)
		}
	}
	r.SetSummary(r.With(own))
	return s.progress()
}

// IsProgressOf reports whether both say that the Pod is there and has not ended. Since when it
// has been missing is read by later syncs.
func (s Status) IsProgressOf(old Status) bool {
	return s.Phase == PhaseRunning && old.Phase == PhaseRunning && meta.IsStatusConditionTrue(old.Conditions, operator.ConditionChildrenObserved)
}

// conditionOf returns the condition that a MyJob of a result has, as a Job does, or
// nothing.
func conditionOf(result Result) string {
	switch result {
	case "":
		return ""
	case ResultSucceeded:
		return "Complete"
	default:
		return "Failed"
	}
}

// progress returns the status but for its conditions and pending children.
func (s state) progress() Status {
	switch s.plan.stage {
	case ended:
		return s.plan.outcome
	case running, missing:
		return Status{Phase: PhaseRunning, PodName: s.job.Name, StartTime: s.observed.startTime(s.job)}
	default:
		return Status{Phase: PhasePending}
	}
}

// judge tells how the MyJob is, once its Pod has been seen.
func judge(s state) operator.Summary {
	switch s.plan.stage {
	case blocked: // although the other Pod has become a child, the hook may not delete it, nor tell its end
		if s.observed.pod.Terminating {
			message := "Pod/" + s.job.Name + " may be older than the MyJob and is being deleted: the MyJob's own is made when it is gone"
			return operator.Summary{State: operator.Progressing, Reason: operator.ReasonCreating, Message: message}
		}
		message := "Pod/" + s.job.Name + " is older than the MyJob, and so not its own: delete that Pod, or write another name for the MyJob"
		return operator.Summary{State: operator.Failed, Reason: operator.ReasonChildBlocked, Message: message}
	case running:
		return operator.Summary{State: operator.Progressing, Reason: "Running", Message: "the Pod has not finished: " + s.observed.pod.Status.Activity()}
	case missing:
		return operator.Summary{State: operator.Progressing, Reason: "Running", Message: "the Pod is running, though not observed at the moment"}
	case ended:
		return s.plan.outcome.judge()
	default:
		return operator.Summary{} // the children are judged
	}
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
