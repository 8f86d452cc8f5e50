package myjob

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observed is what the hook reads of the children, and of the status, which remembers
// the Pod.
type observed struct {
	pod     *observedPod  // nil where there is none
	hasSeen bool          // there was one before
	absence time.Duration // how long one that was there has been missing
}

// observedPod is the part of a Pod that the hook reads.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		CreationTimestamp metav1.Time `json:"creationTimestamp"`
	} `json:"metadata"`
	Spec   operator.PodSpec   `json:"spec"`
	Status operator.PodStatus `json:"status"`
}

func observe(job *MyJob, request metacontroller.Observed) (observed, error) {
	o := observed{hasSeen: job.Status.PodName != "" || job.Status.Phase == PhaseRunning}
	var err error
	if o.pod, err = metacontroller.Get[observedPod](
		request.Children, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind, job.Name); err != nil {
		return o, err
	}
	// A time that is missing, or yet to come, counts as now.
	if since, isMissing := operator.MissingSince(job.Status.Conditions); isMissing && !since.IsZero() {
		o.absence = max(0, request.Now.Sub(since))
	}
	return o, nil
}

// startTime returns when a node took the Pod on, or nil.
func (o observed) startTime(job *MyJob) *metav1.Time {
	if o.pod == nil {
		return job.Status.StartTime
	}
	return cmp.Or(o.pod.Status.StartTime, job.Status.StartTime)
}

// clockSkew is how far the clocks of two API servers may be apart.
const clockSkew = 10 * time.Second

// isOlder reports whether the Pod was there before the MyJob, so that somebody
// else made it, or the MyJob of this name that has just been deleted: server-side
// apply takes over the Pod of that. One that runs may be a little older, for the
// clocks of two API servers differ. One that has ended or is being deleted is taken at
// its word: a result that is not the MyJob's own is worse than one that is not told,
// and a Pod that is made again costs less than one that never is.
func (p *observedPod) isOlder(job *MyJob) bool {
	created := p.Metadata.CreationTimestamp
	switch {
	case created.IsZero():
		return false
	case p.Terminating:
		return !created.After(job.CreationTimestamp.Time) // also of the same second
	case p.Status.IsDone():
		return created.Time.Before(job.CreationTimestamp.Time)
	default:
		return created.Add(clockSkew).Before(job.CreationTimestamp.Time)
	}
}

// isDone reports whether the Pod has finished, or is being deleted.
func (p *observedPod) isDone() bool { return p.Status.IsDone() || p.Terminating }

// ending returns how a Pod that is done has ended. Where it tells no time, it is now.
func (p *observedPod) ending(now time.Time) ending {
	end := now
	if last := p.Status.Finished(); !last.IsZero() {
		end = last.Time
	}
	switch {
	case p.Status.Phase == corev1.PodSucceeded:
		return ending{ResultSucceeded, "Completed", new(int32(0)), end}
	case p.Status.Phase != corev1.PodFailed: // it is being deleted while it runs
		return ending{ResultFailed, "PodDeleted", nil, now}
	}
	reason := p.Status.Reason
	failed := p.Status.Failed(p.Spec.Sidecars()...)
	if failed == nil {
		return ending{ResultFailed, cmp.Or(reason, "Error"), nil, end}
	}
	return ending{ResultFailed, cmp.Or(reason, failed.State.Terminated.Reason, "Error"), &failed.State.Terminated.ExitCode, end}
}
