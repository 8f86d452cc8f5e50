package build

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A Job can be deleted by hand after it has ended and before its result was
// told. Its Pods may still be there then, and tell it.

// endedByItself reports whether the Pod was done before anybody deleted it: one
// that is told to stop may end with success, too.
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

// orphaned returns the result of the build that is wanted as the Pods of its Job
// tell it, which is gone, or nil if they do not. The Job is the one that the
// status remembers by its UID: anybody may write the name of a Job onto a Pod.
func orphaned(build *Build, there observed, wanted string) *Result {
	name := jobName(build, wanted)
	i := slices.IndexFunc(build.Status.Active, func(job ActiveJob) bool { return job.Name == name && job.UID != "" })
	if i < 0 || there.job(wanted) != nil {
		return nil
	}
	failures := int32(0)
	var last *observedPod
	for j := range there.pods {
		pod := &there.pods[j]
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
	result.Message = shown(there.failureOf(last.job), maxMessage)
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

// failureOf tells what the Pods of a Job say of its failure, or nothing.
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
