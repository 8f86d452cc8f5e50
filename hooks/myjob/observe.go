package myjob

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observedPod is the part of a Pod that the hook reads.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		CreationTimestamp metav1.Time `json:"creationTimestamp"`
	} `json:"metadata"`
	Spec   operator.PodSpec   `json:"spec"`
	Status operator.PodStatus `json:"status"`
}

// clockSkew is how far the clocks of two API servers may be apart.
const clockSkew = 10 * time.Second

// isOlder reports whether the Pod was there before the MyJob, so that somebody
// else made it.
func (p *observedPod) isOlder(job *MyJob) bool {
	created := p.Metadata.CreationTimestamp
	return !created.IsZero() && created.Add(clockSkew).Before(job.CreationTimestamp.Time)
}

// isDone reports whether the Pod has finished, or is being deleted.
func (p *observedPod) isDone() bool { return p.Status.IsDone() || p.Terminating }

// conclude writes how the Pod ended. Where it tells no time, it is now.
func (p *observedPod) conclude(status *Status, now time.Time) {
	end := now
	if last := p.Status.Finished(); !last.IsZero() {
		end = last.Time
	}
	switch {
	case p.Status.Phase == corev1.PodSucceeded:
		status.end(ResultSucceeded, "Completed", end)
		status.ExitCode = new(int32(0))
	case p.Status.Phase != corev1.PodFailed: // it is being deleted while it runs
		status.end(ResultFailed, "PodDeleted", now)
	default:
		reason := p.Status.Reason
		if failed := p.Status.Failed(p.Spec.Sidecars()...); failed != nil {
			status.ExitCode = &failed.State.Terminated.ExitCode
			reason = cmp.Or(reason, failed.State.Terminated.Reason)
		}
		status.end(ResultFailed, cmp.Or(reason, "Error"), end)
	}
}

// isShown reports whether the status tells how the MyJob has ended. One that
// another operator wrote may only tell that it has.
func (s *Status) isShown() bool { return s.Phase == PhaseCompleted && s.Result != "" }

// end completes the status, once and for all.
func (s *Status) end(result Result, reason string, at time.Time) {
	s.Phase, s.Result, s.Reason = PhaseCompleted, result, reason
	s.CompletionTime = &metav1.Time{Time: at.UTC().Truncate(time.Second)}
	if s.StartTime != nil {
		s.Duration = max(0, s.CompletionTime.Sub(s.StartTime.Time)).Round(time.Second).String()
	}
}
