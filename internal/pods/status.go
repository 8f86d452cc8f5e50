package pods

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Status is the part of a Pod's status that tells what it is at, what is wrong
// with it and how it ended. It is a few fields of a big object: a hook that
// needs fewer decodes a struct of its own.
type Status struct {
	Phase             corev1.PodPhase `json:"phase"`
	Reason            string          `json:"reason"`
	Message           string          `json:"message"`
	StartTime         *metav1.Time    `json:"startTime"`
	Conditions        []Condition     `json:"conditions"`
	ContainerStatuses []Container     `json:"containerStatuses"`
	InitStatuses      []Container     `json:"initContainerStatuses"`
}

// Condition is the part of a Pod's condition that is read.
type Condition struct {
	Type    corev1.PodConditionType `json:"type"`
	Status  corev1.ConditionStatus  `json:"status"`
	Reason  string                  `json:"reason"`
	Message string                  `json:"message"`
}

// Container is the part of a container's status that is read.
type Container struct {
	Name  string `json:"name"`
	State struct {
		Waiting *struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"waiting"`
		Running *struct {
			StartedAt metav1.Time `json:"startedAt"`
		} `json:"running"`
		Terminated *Terminated `json:"terminated"`
	} `json:"state"`
}

// Terminated is how a container ended.
type Terminated struct {
	ExitCode   int32       `json:"exitCode"`
	Reason     string      `json:"reason"`
	Message    string      `json:"message"`
	FinishedAt metav1.Time `json:"finishedAt"`
}

// IsDone reports whether the Pod has finished.
func (s *Status) IsDone() bool {
	return s.Phase == corev1.PodSucceeded || s.Phase == corev1.PodFailed
}

// IsReady reports whether the Pod says that it is ready.
func (s *Status) IsReady() bool {
	return slices.ContainsFunc(s.Conditions, func(c Condition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// Containers returns the init containers and then the others, in the order in
// which the Pod lists their statuses.
func (s *Status) Containers() []Container { return slices.Concat(s.InitStatuses, s.ContainerStatuses) }

// Failed returns the first container that ended with another exit code than 0,
// or nil.
func (s *Status) Failed() *Container {
	containers := s.Containers()
	for i := range containers {
		if terminated := containers[i].State.Terminated; terminated != nil && terminated.ExitCode != 0 {
			return &containers[i]
		}
	}
	return nil
}

// Finished returns when the last container ended, or the zero time where no
// container tells.
func (s *Status) Finished() metav1.Time {
	var last metav1.Time
	for _, container := range s.Containers() {
		if ended := container.State.Terminated; ended != nil && ended.FinishedAt.After(last.Time) {
			last = ended.FinishedAt
		}
	}
	return last
}

// Activity tells in a few words what keeps the Pod from being done or ready:
// why it is not scheduled, what a container waits for, or else its phase. It
// says the same for the same state, and nothing that grows with time.
func (s *Status) Activity() string {
	for _, condition := range s.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && condition.Reason != "" {
			return "it is not scheduled: " + condition.Reason
		}
	}
	for _, container := range s.Containers() {
		if waiting := container.State.Waiting; waiting != nil && waiting.Reason != "" {
			return container.Name + " is waiting: " + waiting.Reason
		}
	}
	return "its phase is " + string(cmp.Or(s.Phase, corev1.PodPending))
}
