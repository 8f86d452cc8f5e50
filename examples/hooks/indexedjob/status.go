package indexedjob

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/operator"
)

// conditionComplete is True when a Pod of each index has succeeded. It is the memory of the job.
const conditionComplete = "Complete"

// Reasons of Ready, beside those of package operator.
const (
	reasonComplete  = "Complete"
	reasonRunning   = "Running"
	reasonPodFailed = "PodFailed"
	reasonPaused    = "Paused"
)

// report sets the conditions and returns the rest of the status. That of a job which was complete
// stays: its Pods may be gone.
func report(r *operator.Report, job *IndexedJob, o observed, wasComplete bool, now time.Time) Status {
	if wasComplete {
		r.SetSummary(complete())
		r.SetSummarized(conditionComplete, complete())
		return Status{Active: job.Status.Active, Succeeded: job.Status.Succeeded, Failed: job.Status.Failed}
	}
	own := judge(job, o).Telling(o.told(now))
	r.SetSummarized(conditionComplete, own)
	r.SetSummary(r.With(own))
	active, succeeded, failed := o.count()
	return Status{Active: active, Succeeded: succeeded, Failed: failed}
}

// judge returns how far a job is that was not complete.
func judge(job *IndexedJob, o observed) operator.Summary {
	completions := orOne(job.Spec.Completions)
	completed := o.completed(completions)
	progress := fmt.Sprintf("%d of %d Pods have succeeded", completed, completions)
	active, _, _ := o.count()
	switch failed := o.failed(completions); {
	case completed == completions:
		return complete()
	case len(failed) > 0:
		state := operator.Degraded
		if active == 0 && completed+int32(len(failed)) == completions { // nothing is left to run
			state = operator.Failed
		}
		return operator.Summary{State: state, Reason: reasonPodFailed,
			Message: fmt.Sprintf("%s, and Pod %s has failed: delete it to run it again", progress, podName(job, failed[0]))}
	case active == 0 && orOne(job.Spec.Parallelism) == 0:
		return operator.Summary{State: operator.Failed, Reason: reasonPaused, Message: progress + ", and parallelism is 0: raise it to go on"}
	}
	return operator.Summary{Reason: reasonRunning, Message: progress}
}

// complete is the summary of a job that is or was complete.
func complete() operator.Summary {
	return operator.Summary{State: operator.Done, Reason: reasonComplete, Message: "a Pod of each index has succeeded"}
}

// failed returns the indexes whose Pods have failed, in order.
func (o observed) failed(completions int32) (failed []int) {
	for index := range int(completions) {
		if pod := o[index]; pod != nil && pod.Status.Phase == corev1.PodFailed {
			failed = append(failed, index)
		}
	}
	return failed
}
