package myjob

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// conditionSuspended is True while the MyJob is suspended, as a Job has it. It also remembers that
// the Pod is deleted for that.
const conditionSuspended = "Suspended"

// Reasons, beside those of package operator and what the Pod says.
const (
	reasonPodDeleted = "PodDeleted"
	reasonPodLost    = "PodLost"
	reasonSuspended  = "Suspended"
	reasonRetrying   = "Retrying"
	// reasonDeadline is also what the kubelet says.
	reasonDeadline = "DeadlineExceeded"
	// reasonUnknown is that of a MyJob that has ended, as its status tells without telling how, and
	// whose Pod is gone: another operator wrote that status. It never runs again all the same.
	reasonUnknown = "ResultUnknown"
)

// state is all that the status follows from.
type state struct {
	job      *MyJob
	observed observed
	plan     plan
	now      time.Time
}

// report tells how far the MyJob is.
func (s state) report(r *operator.Report) Status {
	pod := "Pod/" + podName(s.job, s.observed.attempt)
	observed := func(status metav1.ConditionStatus, reason, message string) {
		r.Set(operator.ConditionChildrenObserved, status, reason, message)
	}
	own := operator.Summary{State: operator.Progressing, Reason: "Running"}
	status := s.status(PhaseRunning)
	switch s.plan.stage {
	case starting: // the report on the children tells
		status = s.status(PhasePending)
	case suspended, pausing:
		status = s.status(PhasePending)
		own = s.waits()
		observed(metav1.ConditionTrue, "NothingMissing", "no Pod is asked for at the moment")
	case blocked: // although the other Pod has become a child, the hook may not delete it, nor tell its end
		status = s.status(PhasePending)
		own = s.blockedBy(pod)
		observed(metav1.ConditionFalse, "Absent", "asked for: "+pod)
	case running:
		own = s.runs()
		observed(metav1.ConditionTrue, "AllObserved", "the Pod exists")
	case terminating:
		status, own = s.terminating(status)
		observed(metav1.ConditionTrue, "AllObserved", "the Pod exists")
	case missing:
		own.Message = "the Pod has not finished, though it is not observed at the moment"
		observed(metav1.ConditionFalse, "Absent", "not observed any more: "+pod)
	case ended:
		status, own = s.plan.outcome, s.plan.outcome.judge()
		observed(metav1.ConditionTrue, "NothingMissing", "a completed MyJob asks for no Pod")
		if conditionType := map[Result]string{ResultSucceeded: "Complete", ResultFailed: "Failed"}[status.Result]; conditionType != "" {
			r.Set(conditionType, metav1.ConditionTrue, status.Reason, own.Message)
		}
	}
	isSuspending := s.plan.stage == terminating && s.observed.suspends // whether or not it shall be resumed
	if s.plan.stage != ended && (s.job.Spec.isSuspended() || isSuspending) {
		r.Set(conditionSuspended, metav1.ConditionTrue, reasonSuspended, "spec.suspend is true")
	}
	r.SetSummary(r.With(own))
	return status
}

// status returns the status of a phase in which the MyJob has not ended.
func (s state) status(phase Phase) Status {
	status := Status{Phase: phase, Failed: s.plan.failed, Disrupted: s.plan.disrupted, StartTime: s.observed.startTime(s.job)}
	if s.plan.stage == pausing && !s.plan.pausedTo.IsZero() {
		status.NextAttemptTime = &metav1.Time{Time: s.plan.pausedTo.UTC().Truncate(time.Second)}
	}
	if s.plan.attempt > 1 {
		status.Attempt, status.Message = s.plan.attempt, cmp.Or(s.plan.outcome.Message, s.job.Status.Message)
	}
	if phase == PhaseRunning {
		status.PodName = podName(s.job, s.plan.attempt)
	}
	if phase == PhaseRunning && !s.observed.hasBegun(s.job) {
		status.Phase = PhasePending
	}
	isResumed := s.plan.attempt > s.observed.attempt && s.plan.failed == s.job.Status.Failed && s.plan.disrupted == s.job.Status.Disrupted
	if s.plan.stage == suspended || isResumed || phase == PhasePending && s.plan.attempt == 1 {
		status.StartTime = nil
	}
	return status
}

// runs says what the Pod does.
func (s state) runs() operator.Summary {
	if s.job.Spec.isSuspended() {
		return s.suspending()
	}
	told := s.observed.pod.tell(s.now)
	j := operator.Summary{State: operator.Progressing, Reason: "Running"}.Telling(told)
	j.Message = "the Pod has not finished: " + s.observed.pod.does(told)
	return j
}

func (s state) suspending() operator.Summary {
	return operator.Summary{State: operator.Progressing, Reason: reasonSuspended, Message: "the Pod is being deleted, because the MyJob is suspended"}
}

// waits says why no Pod is asked for.
func (s state) waits() operator.Summary {
	j := operator.Summary{State: operator.Progressing, Reason: reasonSuspended, Message: "the MyJob is suspended: set spec.suspend to false to run it"}
	if s.plan.stage == pausing {
		j.Reason, j.Message = reasonRetrying, fmt.Sprintf("%s follows after a pause", "Pod/"+podName(s.job, s.plan.attempt))
		if last := cmp.Or(s.plan.outcome.Message, s.plan.outcome.Reason, s.job.Status.Message); s.plan.failed+s.plan.disrupted > 0 && last != "" {
			j.Message = fmt.Sprintf("attempt %d has failed: %s; %s", s.plan.attempt-1, last, j.Message)
		}
	}
	return j
}

func (s state) blockedBy(pod string) operator.Summary {
	if s.observed.pod.Terminating {
		return operator.Summary{State: operator.Progressing, Reason: operator.ReasonCreating,
			Message: pod + " may be older than the MyJob and is being deleted: the MyJob's own is made when it is gone"}
	}
	return operator.Summary{State: operator.Failed, Reason: operator.ReasonChildBlocked,
		Message: pod + " is older than the MyJob, and so not its own: delete that Pod, or write another name for the MyJob"}
}

// terminating tells of a Pod that is being deleted. Without an attempt that is left the MyJob is
// completed, though how it ends is decided by the Pod.
func (s state) terminating(status Status) (Status, operator.Summary) {
	if s.observed.suspends {
		return status, s.suspending()
	}
	status.Reason = s.observed.pod.terminatingReason()
	limit, isTriedAgain := s.job.Spec.BackoffLimit, s.job.Spec.RetryDisruptions && s.observed.isDisrupted(s.job)
	if !isTriedAgain && (limit == nil || s.plan.failed >= *limit) {
		status.Phase = PhaseCompleted
	}
	j := operator.Summary{State: operator.Progressing, Reason: status.Reason, Message: "the Pod is being deleted, and may still end well"}
	return status, j.Telling(s.observed.pod.tell(s.now))
}

// IsProgressOf reports whether both say that the Pod is there and has not ended. Since when it
// has been missing, and why it is being deleted, is read by later syncs.
func (s Status) IsProgressOf(old Status) bool {
	return s.isTerminating() == old.isTerminating() && s.hasPod() && old.hasPod() && s.PodName == old.PodName && meta.IsStatusConditionTrue(old.Conditions, operator.ConditionChildrenObserved)
}

// hasPod reports whether the status tells of a Pod that has not ended.
func (s *Status) hasPod() bool { return s.Phase != PhaseCompleted && s.PodName != "" }

// judge tells how a MyJob has ended.
func (s *Status) judge() operator.Summary {
	if s.Result == "" {
		const message = "the status says that it has completed and not how, and the Pod is gone: create a new MyJob to run it again"
		return operator.Summary{State: operator.Failed, Reason: s.Reason, Message: message}
	}
	if s.Result == ResultSucceeded {
		return operator.Summary{State: operator.Done, Reason: "Succeeded", Message: "the Pod has succeeded"}
	}
	j := operator.Summary{State: operator.Failed, Reason: s.Reason, Message: "the Pod has failed: " + cmp.Or(s.Message, s.Reason)}
	if s.Message == "" && s.ExitCode != nil && *s.ExitCode != 0 {
		j.Message += fmt.Sprintf(", exit code %d", *s.ExitCode)
	}
	return j
}
