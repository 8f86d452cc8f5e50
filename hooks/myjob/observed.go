package myjob

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// observedPod is the part of a Pod that the hook reads.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Status struct {
		Phase             corev1.PodPhase     `json:"phase"`
		Reason            string              `json:"reason"`
		StartTime         *metav1.Time        `json:"startTime"`
		ContainerStatuses []observedContainer `json:"containerStatuses"`
		InitStatuses      []observedContainer `json:"initContainerStatuses"`
	} `json:"status"`
}

type observedContainer struct {
	Name  string `json:"name"`
	State struct {
		Waiting *struct {
			Reason string `json:"reason"`
		} `json:"waiting"`
		Terminated *struct {
			ExitCode   int32       `json:"exitCode"`
			Reason     string      `json:"reason"`
			FinishedAt metav1.Time `json:"finishedAt"`
		} `json:"terminated"`
	} `json:"state"`
}

// isDone reports whether the Pod has finished, or is being deleted.
func (p *observedPod) isDone() bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || p.Terminating
}

// activity tells what the Pod is at.
func (p *observedPod) activity() string {
	for _, container := range p.containers() {
		if waiting := container.State.Waiting; waiting != nil && waiting.Reason != "" {
			return container.Name + " is waiting: " + waiting.Reason
		}
	}
	return "its phase is " + string(cmp.Or(p.Status.Phase, corev1.PodPending))
}

func (p *observedPod) containers() []observedContainer {
	return append(p.Status.InitStatuses[:len(p.Status.InitStatuses):len(p.Status.InitStatuses)], p.Status.ContainerStatuses...)
}

// conclude writes how the Pod ended. Where it tells no time, it is now.
func (p *observedPod) conclude(status *Status, now time.Time) {
	var last metav1.Time
	var failed *observedContainer
	containers := p.containers()
	for i := range containers {
		terminated := containers[i].State.Terminated
		if terminated == nil {
			continue
		}
		if terminated.FinishedAt.After(last.Time) {
			last = terminated.FinishedAt
		}
		if terminated.ExitCode != 0 && failed == nil {
			failed = &containers[i]
		}
	}
	end := now
	if !last.IsZero() {
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
		if failed != nil {
			status.ExitCode = &failed.State.Terminated.ExitCode
			reason = cmp.Or(reason, failed.State.Terminated.Reason)
		}
		status.end(ResultFailed, cmp.Or(reason, "Error"), end)
	}
}

// end completes the status, once and for all.
func (s *Status) end(result Result, reason string, at time.Time) {
	s.Phase, s.Result, s.Reason = PhaseCompleted, result, reason
	s.CompletionTime = &metav1.Time{Time: at.UTC().Truncate(time.Second)}
	if s.StartTime != nil {
		s.Duration = max(0, s.CompletionTime.Sub(s.StartTime.Time)).Round(time.Second).String()
	}
}
