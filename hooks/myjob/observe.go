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

// isOlder reports whether the Pod was there before the MyJob, as [operator.IsOlder] does. One
// that is being deleted counts as older in the same second, too: a Pod that is made again
// costs less than one that never is.
func (p *observedPod) isOlder(job *MyJob) bool {
	created := p.Metadata.CreationTimestamp
	if p.Terminating {
		return !created.IsZero() && !created.After(job.CreationTimestamp.Time)
	}
	return operator.IsOlder(created, job.CreationTimestamp, !p.Status.IsDone())
}

// isDone reports whether the Pod has finished, or is being deleted.
func (p *observedPod) isDone() bool { return p.Status.IsDone() || p.Terminating }

// ending returns how a Pod that is done has ended, and when: now, where it tells no time.
func (p *observedPod) ending(now time.Time) (Status, time.Time) {
	end := now
	if last := p.Status.Finished(); !last.IsZero() {
		end = last.Time
	}
	switch {
	case p.Status.Phase == corev1.PodSucceeded:
		return Status{Result: ResultSucceeded, Reason: "Completed", ExitCode: new(int32(0))}, end
	case p.Status.Phase != corev1.PodFailed: // it is being deleted while it runs
		return Status{Result: ResultFailed, Reason: "PodDeleted"}, now
	}
	status := Status{Result: ResultFailed, Reason: cmp.Or(p.Status.Reason, "Error")}
	if failed := p.Status.Failed(p.Spec.Sidecars()...); failed != nil {
		status.Reason = cmp.Or(p.Status.Reason, failed.State.Terminated.Reason, "Error")
		status.ExitCode = &failed.State.Terminated.ExitCode
	}
	return status, end
}
