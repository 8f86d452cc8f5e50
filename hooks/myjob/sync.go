package myjob

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

type result = metacontroller.Result[Status]

// sync asks for the Pod until it has been seen, and then reports on it.
func sync(job *MyJob, seen metacontroller.Observed) (result, error) {
	if len(job.Spec.Template.Spec.Containers) == 0 {
		return result{}, errors.New("spec.template.spec.containers is missing: write the container that shall run")
	}
	pod, err := metacontroller.Get[observedPod](seen.Children, podKind.APIVersion, podKind.Kind, job.Name)
	if err != nil {
		return result{}, err
	}
	conditions := metacontroller.NewConditions(job.Status.Conditions, job.Generation, seen.Now)
	switch {
	case job.Status.Phase == PhaseCompleted:
		return completed(job, pod, conditions, seen.Now), nil
	case pod == nil && job.Status.PodName == "":
		return asked(job, seen, conditions)
	default:
		return watched(job, pod, conditions, seen.Now), nil
	}
}

// asked asks for a Pod that has never been seen.
func asked(job *MyJob, seen metacontroller.Observed, conditions *metacontroller.Conditions) (result, error) {
	wanted := []metacontroller.Object{pod(job)}
	differs, err := seen.Compare(wanted)
	if err != nil {
		return result{}, err
	}
	_, resync := conditions.Settle(differs)
	return result{
		Status:      Status{Phase: PhasePending, Conditions: conditions.List()},
		Children:    wanted,
		ResyncAfter: resync,
	}, nil
}

// watched reports on a Pod that has been seen, now or before.
func watched(job *MyJob, pod *observedPod, conditions *metacontroller.Conditions, now time.Time) result {
	status := Status{Phase: PhaseRunning, PodName: job.Name, StartTime: job.Status.StartTime}
	if pod == nil {
		left := metacontroller.ChildGrace - absence(conditions, job, now)
		if left > 0 {
			conditions.Set(metacontroller.ConditionReady, metav1.ConditionFalse, "Running", "the Pod is running, though not observed at the moment")
			status.Conditions = conditions.List()
			return result{Status: status, ResyncAfter: left}
		}
		status.end(ResultFailed, "PodLost", now)
		return completed(&MyJob{ObjectMeta: job.ObjectMeta, Spec: job.Spec, Status: status}, nil, conditions, now)
	}
	conditions.Set(metacontroller.ConditionChildrenObserved, metav1.ConditionTrue, "AllObserved", "the Pod exists")
	if pod.Status.StartTime != nil {
		status.StartTime = pod.Status.StartTime
	}
	if pod.isDone() {
		pod.conclude(&status, now)
		return completed(&MyJob{ObjectMeta: job.ObjectMeta, Spec: job.Spec, Status: status}, pod, conditions, now)
	}
	conditions.Set(metacontroller.ConditionReady, metav1.ConditionFalse, "Running", "the Pod has not finished: "+pod.Status.Activity())
	status.Conditions = conditions.List()
	return result{Status: status, Children: []metacontroller.Object{metacontroller.Keep(pod.Snapshot)}}
}

// absence returns how long a Pod that has been seen has been missing.
func absence(conditions *metacontroller.Conditions, job *MyJob, now time.Time) time.Duration {
	conditions.Set(metacontroller.ConditionChildrenObserved, metav1.ConditionFalse, "Absent", "not observed any more: Pod/"+job.Name)
	return now.Sub(conditions.Find(metacontroller.ConditionChildrenObserved).LastTransitionTime.Time)
}

// completed repeats what was concluded, and keeps the Pod while its time to
// live lasts.
func completed(job *MyJob, pod *observedPod, conditions *metacontroller.Conditions, now time.Time) result {
	status := job.Status
	outcome := "the Pod has succeeded"
	if status.Result == ResultFailed {
		outcome = "the Pod has failed: " + status.Reason
	}
	if status.ExitCode != nil && *status.ExitCode != 0 {
		outcome = fmt.Sprintf("%s, exit code %d", outcome, *status.ExitCode)
	}
	if status.Result == ResultSucceeded {
		conditions.Set("Complete", metav1.ConditionTrue, status.Reason, outcome)
		conditions.Set(metacontroller.ConditionReady, metav1.ConditionTrue, "Succeeded", outcome)
	} else {
		conditions.Set("Failed", metav1.ConditionTrue, status.Reason, outcome)
		conditions.Set(metacontroller.ConditionReady, metav1.ConditionFalse, status.Reason, outcome)
		conditions.Set(metacontroller.ConditionStalled, metav1.ConditionTrue, status.Reason, outcome)
	}
	conditions.Set(metacontroller.ConditionChildrenObserved, metav1.ConditionTrue, "NothingMissing", "a completed MyJob asks for no Pod")
	status.Conditions = conditions.List()
	answer := result{Status: status}
	if pod == nil {
		return answer
	}
	if job.Spec.TTLSecondsAfterFinished != nil && status.CompletionTime != nil {
		ttl := time.Duration(*job.Spec.TTLSecondsAfterFinished) * time.Second
		left := status.CompletionTime.Add(ttl).Sub(now)
		if left <= 0 {
			return answer // its time to live is over
		}
		answer.ResyncAfter = left
	}
	answer.Children = []metacontroller.Object{metacontroller.Keep(pod.Snapshot)}
	return answer
}
