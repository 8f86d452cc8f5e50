package operator

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Failure is how a Pod, or a container of it, failed last.
type Failure struct {
	// Pod is the name of the Pod.
	Pod string `json:"pod"`
	// Time is when it failed.
	Time metav1.Time `json:"time"`
	// Message has the container, its reason and exit code, or what ended the Pod.
	Message string `json:"message"`
}

// LastFailure returns the newest failure that the Pods show, or the one that a status remembers: where
// that is newer, because a Pod that was replaced shows its own no more, and where the same has happened
// again within ten minutes, because a status is not written for each restart. It is nil where nothing
// has failed.
func LastFailure(pods []Pod, remembered *Failure) *Failure {
	var newest *Pod
	var at time.Time
	for i := range pods {
		if failed := pods[i].failedAt(); failed.After(at) {
			newest, at = &pods[i], failed
		}
	}
	if newest == nil {
		return remembered
	}
	failure := &Failure{Pod: newest.Name, Time: metav1.NewTime(at), Message: newest.failure()}
	if remembered != nil {
		if since := at.Sub(remembered.Time.Time); since <= 0 || since < forgetEnd && failure.Message == remembered.Message {
			return remembered
		}
	}
	return failure
}

// failedAt returns when the Pod or one of its containers failed last, or the zero time.
func (p *Pod) failedAt() time.Time {
	if p.Status.Phase != corev1.PodFailed {
		_, ended := p.Status.lastEnd()
		return ended.FinishedAt.Time
	}
	if last := p.Status.Finished(); !last.IsZero() {
		return last.Time
	}
	if c := p.Status.condition(corev1.DisruptionTarget); c != nil {
		return c.LastTransitionTime.Time
	}
	return p.CreationTimestamp.Time
}

// failure says how it failed.
func (p *Pod) failure() string {
	if p.Status.Phase == corev1.PodFailed {
		return cmp.Or(p.Status.Failure(), "it does not say why")
	}
	container, ended := p.Status.lastEnd()
	return container + " has ended: " + killed(&ended)
}

// lastEnd returns the container that failed last, and how; zero values where none has.
func (s *PodStatus) lastEnd() (container string, last corev1.ContainerStateTerminated) {
	for _, containers := range [...][]ContainerStatus{s.InitStatuses, s.ContainerStatuses} {
		for i := range containers {
			for _, state := range [...]*corev1.ContainerState{&containers[i].LastState, &containers[i].State} {
				if ended := state.Terminated; ended != nil && hasFailed(ended) && ended.FinishedAt.After(last.FinishedAt.Time) {
					container, last = containers[i].Name, *ended
				}
			}
		}
	}
	return container, last
}
