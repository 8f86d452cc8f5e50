package myjob

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// blocked reports that another Pod of that name is in the way, although it has
// become a child: it is nothing that the hook may delete, nor tell the end of.
func blocked(pod *observedPod, conditions *operator.Conditions) result {
	message := pod.Ref() + " is older than the MyJob, and so not its own: delete that Pod, or write another name for the MyJob"
	conditions.Judge(operator.Judgement{State: operator.Failed, Reason: operator.ReasonChildBlocked, Message: message})
	conditions.Set(operator.ConditionChildrenObserved, metav1.ConditionFalse, "Absent", "asked for: "+pod.Ref())
	return result{
		Status:   Status{Phase: PhasePending, Conditions: conditions.List()},
		Children: []metacontroller.Object{metacontroller.Keep(pod.Snapshot)},
	}
}

// unknown reports on a MyJob that has ended, as its status tells without telling
// how, and whose Pod is gone. The operator that wrote this status told no result.
// It never runs again all the same.
func unknown(job *MyJob, conditions *operator.Conditions) result {
	const message = "the status says that it has completed and not how, and the Pod is gone: create a new MyJob to run it again"
	status := job.Status
	status.Reason = "ResultUnknown"
	conditions.Judge(operator.Judgement{State: operator.Failed, Reason: status.Reason, Message: message})
	conditions.Set(operator.ConditionChildrenObserved, metav1.ConditionTrue, "NothingMissing", "a completed MyJob asks for no Pod")
	status.Conditions, status.PendingChildren = conditions.List(), operator.PendingChildren{}
	return result{Status: status}
}

// watched reports on a Pod that has been seen, now or before.
func watched(job *MyJob, pod *observedPod, conditions *operator.Conditions, now time.Time) result {
	status := Status{Phase: PhaseRunning, PodName: job.Name, StartTime: job.Status.StartTime}
	if pod == nil {
		left := operator.ChildGrace - absence(conditions, job, now)
		if left > 0 {
			conditions.Judge(running("the Pod is running, though not observed at the moment"))
			status.Conditions = conditions.List()
			return result{Status: status, ResyncAfter: left}
		}
		status.end(ResultFailed, "PodLost", now)
		return completed(job, status, nil, conditions, now)
	}
	conditions.Set(operator.ConditionChildrenObserved, metav1.ConditionTrue, "AllObserved", "the Pod exists")
	if pod.Status.StartTime != nil {
		status.StartTime = pod.Status.StartTime
	}
	if pod.isDone() {
		pod.conclude(&status, now)
		return completed(job, status, pod, conditions, now)
	}
	conditions.Judge(running("the Pod has not finished: " + pod.Status.Activity()))
	status.Conditions = conditions.List()
	return result{Status: status, Children: []metacontroller.Object{metacontroller.Keep(pod.Snapshot)}}
}

func running(message string) operator.Judgement {
	return operator.Judgement{State: operator.Working, Reason: "Running", Message: message}
}

// absence returns how long a Pod that has been seen has been missing.
func absence(conditions *operator.Conditions, job *MyJob, now time.Time) time.Duration {
	conditions.Set(operator.ConditionChildrenObserved, metav1.ConditionFalse, "Absent", "not observed any more: Pod/"+job.Name)
	return now.Sub(conditions.Find(operator.ConditionChildrenObserved).LastTransitionTime.Time)
}

// completed repeats what was concluded, and keeps the Pod while its time to
// live lasts, and until a request has shown the conclusion: the Pod is deleted
// before the status is written, and nothing but the Pod would tell it again.
func completed(job *MyJob, status Status, pod *observedPod, conditions *operator.Conditions, now time.Time) result {
	outcome := "the Pod has succeeded"
	if status.Result == ResultFailed {
		outcome = "the Pod has failed: " + status.Reason
	}
	if status.ExitCode != nil && *status.ExitCode != 0 {
		outcome = fmt.Sprintf("%s, exit code %d", outcome, *status.ExitCode)
	}
	if status.Result == ResultSucceeded {
		conditions.Set("Complete", metav1.ConditionTrue, status.Reason, outcome)
		conditions.Judge(operator.Judgement{State: operator.Done, Reason: "Succeeded", Message: outcome})
	} else {
		conditions.Set("Failed", metav1.ConditionTrue, status.Reason, outcome)
		conditions.Judge(operator.Judgement{State: operator.Failed, Reason: status.Reason, Message: outcome})
	}
	conditions.Set(operator.ConditionChildrenObserved, metav1.ConditionTrue, "NothingMissing", "a completed MyJob asks for no Pod")
	status.Conditions, status.PendingChildren = conditions.List(), operator.PendingChildren{}
	answer := result{Status: status}
	if pod == nil {
		return answer
	}
	if job.Spec.TTLSecondsAfterFinished != nil && status.CompletionTime != nil {
		ttl := time.Duration(*job.Spec.TTLSecondsAfterFinished) * time.Second
		left := status.CompletionTime.Add(ttl).Sub(now)
		if left <= 0 && job.Status.isShown() {
			return answer // its time to live is over
		}
		answer.ResyncAfter = max(left, time.Second)
	}
	answer.Children = []metacontroller.Object{metacontroller.Keep(pod.Snapshot)}
	return answer
}
