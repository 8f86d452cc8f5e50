package operator

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodStatus is the part of a Pod's status that shows what the Pod does, what is wrong with it and
// how it ended. A hook that needs fewer fields of this large object decodes a struct of its own.
type PodStatus struct {
	Phase             corev1.PodPhase   `json:"phase"`
	Reason            string            `json:"reason"`
	Message           string            `json:"message"`
	StartTime         *metav1.Time      `json:"startTime"`
	Conditions        []PodCondition    `json:"conditions"`
	ContainerStatuses []ContainerStatus `json:"containerStatuses"`
	InitStatuses      []ContainerStatus `json:"initContainerStatuses"`
}

// PodSpec is the part of a Pod's spec that shows which containers are sidecars.
type PodSpec struct {
	InitContainers []struct {
		Name          string                        `json:"name"`
		RestartPolicy corev1.ContainerRestartPolicy `json:"restartPolicy"`
	} `json:"initContainers"`
}

// Sidecars returns the names of the init containers with restartPolicy Always.
func (s *PodSpec) Sidecars() []string {
	var names []string
	for _, c := range s.InitContainers {
		if c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			names = append(names, c.Name)
		}
	}
	return names
}

// PodCondition is the part of a Pod's condition that is read.
type PodCondition struct {
	Type               corev1.PodConditionType `json:"type"`
	Status             corev1.ConditionStatus  `json:"status"`
	Reason             string                  `json:"reason"`
	Message            string                  `json:"message"`
	LastTransitionTime metav1.Time             `json:"lastTransitionTime"`
}

// ContainerStatus is the part of a container's status that is read.
type ContainerStatus struct {
	Name         string `json:"name"`
	RestartCount int32  `json:"restartCount"`
	Ready        bool   `json:"ready"`
	// Started is nil where the kubelet has not said yet whether the startup probe has succeeded.
	Started *bool                 `json:"started"`
	State   corev1.ContainerState `json:"state"`
	// LastState is how the container ended before it was started again.
	LastState corev1.ContainerState `json:"lastState"`
}

// IsDone reports whether the Pod has finished.
func (s *PodStatus) IsDone() bool {
	return s.Phase == corev1.PodSucceeded || s.Phase == corev1.PodFailed
}

// IsReady reports whether the Pod says that it is ready.
func (s *PodStatus) IsReady() bool {
	c := s.condition(corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// Containers returns the init containers and then the others, in the order in
// which the Pod lists their statuses.
func (s *PodStatus) Containers() []ContainerStatus {
	return slices.Concat(s.InitStatuses, s.ContainerStatuses)
}

// Failed returns the first container that ended with an exit code other than 0, or nil. Init
// containers come last: if one fails, only sidecars end besides it. The named sidecars come after
// all others: they are stopped when the Pod is done, and hardly ever exit with 0. Last comes one
// that was killed for its memory although its main process ended with 0.
func (s *PodStatus) Failed(sidecars ...string) *ContainerStatus {
	var sidecar, killed *ContainerStatus
	containers := slices.Concat(s.ContainerStatuses, s.InitStatuses)
	for i := range containers {
		container, ended := &containers[i], containers[i].State.Terminated
		switch {
		case ended == nil || !hasFailed(ended):
		case ended.ExitCode == 0:
			killed = cmp.Or(killed, container)
		case !slices.Contains(sidecars, container.Name):
			return container
		default:
			sidecar = cmp.Or(sidecar, container)
		}
	}
	return cmp.Or(sidecar, killed)
}

// Finished returns when the last container ended, or the zero time if no
// container says so.
func (s *PodStatus) Finished() metav1.Time {
	var last metav1.Time
	for _, container := range s.Containers() {
		if ended := container.State.Terminated; ended != nil && ended.FinishedAt.After(last.Time) {
			last = ended.FinishedAt
		}
	}
	return last
}

// Disruption returns the reason of the condition DisruptionTarget while it is True, "" otherwise:
// the Pod is drained, preempted or evicted, which is no failure of its program, and may still end
// well in its grace period.
func (s *PodStatus) Disruption() string {
	if c := s.condition(corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue {
		return cmp.Or(c.Reason, string(corev1.DisruptionTarget))
	}
	return ""
}

func (s *PodStatus) condition(conditionType corev1.PodConditionType) *PodCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == conditionType {
			return &s.Conditions[i]
		}
	}
	return nil
}
