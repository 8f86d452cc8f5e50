package build

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A Job can be deleted by hand after it has ended and before its result was
// stored. Its Pods may still exist and show the result.

// endedByItself reports whether the Pod had ended before it was deleted: a Pod
// that is stopped may also end with success.
func (p *observedPod) endedByItself() bool {
	if !p.Status.IsDone() {
		return false
	}
	if p.Metadata.DeletionTimestamp == nil {
		return true
	}
	grace := time.Duration(p.Metadata.DeletionGracePeriodSeconds) * time.Second
	asked := p.Metadata.DeletionTimestamp.Add(-grace)
	finished := p.Status.Finished()
	return !finished.IsZero() && finished.Time.Before(asked)
}

// orphaned returns the result of the wanted build from the Pods of its deleted
// Job, or nil if they do not show it. The Job is identified by the UID in the
// status: anyone may write the name of a Job onto a Pod.
func orphaned(build *Build, observed observed, wanted string) *Result {
	name := jobName(build, wanted)
	i := slices.IndexFunc(build.Status.Active, func(job ActiveJob) bool { return job.Name == name && job.UID != "" })
	if i < 0 || observed.job(wanted) != nil {
		return nil
	}
	failures := int32(0)
	var last *observedPod
	for j := range observed.pods {
		pod := &observed.pods[j]
		if pod.job != build.Status.Active[i].UID || !pod.endedByItself() {
			continue
		}
		if pod.Status.Phase == corev1.PodSucceeded {
			return orphanedResult(wanted, pod, PhaseSucceeded)
		}
		failures++
		last = cmp.Or(last, pod) // the newest
	}
	if failures <= backoffLimit(build) {
		return nil
	}
	result := orphanedResult(wanted, last, PhaseFailed)
	result.Message = shown(observed.failureOf(last.job), maxMessage)
	return result
}

func orphanedResult(hash string, pod *observedPod, phase Phase) *Result {
	result := &Result{Hash: hash, Result: phase, StartTime: pod.Status.StartTime}
	if finished := pod.Status.Finished(); !finished.IsZero() {
		result.CompletionTime = &finished
	}
	result.Duration = duration(result)
	return result
}

// failureOf returns the failure that the Pods of a Job show, or "".
func (o observed) failureOf(job types.UID) string {
	for _, i := range o.byJob[job] {
		pod := &o.pods[i]
		if failed := pod.Status.Failed(); failed != nil {
			return describeFailure(failed)
		}
		if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" {
			return "its Pod failed: " + pod.Status.Reason
		}
	}
	return ""
}
