package operator

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Workload is the part of a Deployment, a StatefulSet or a DaemonSet that tells how far
// its rollout is. It is a few fields of a big object: a hook that reads others decodes a
// struct of its own, and makes the [Rollout] of it.
type Workload struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		// Replicas is nil for a DaemonSet.
		Replicas *int32 `json:"replicas"`
	} `json:"spec"`
	Status WorkloadStatus `json:"status"`
}

// WorkloadStatus is the part of the status that is read, of all three kinds.
type WorkloadStatus struct {
	ObservedGeneration int64 `json:"observedGeneration"`

	// Of a Deployment and of a StatefulSet.
	Replicas          int32 `json:"replicas"`
	ReadyReplicas     int32 `json:"readyReplicas"`
	UpdatedReplicas   int32 `json:"updatedReplicas"`
	AvailableReplicas int32 `json:"availableReplicas"`

	// Of a DaemonSet.
	DesiredNumberScheduled int32 `json:"desiredNumberScheduled"`
	CurrentNumberScheduled int32 `json:"currentNumberScheduled"`
	NumberReady            int32 `json:"numberReady"`
	UpdatedNumberScheduled int32 `json:"updatedNumberScheduled"`
	NumberAvailable        int32 `json:"numberAvailable"`

	Conditions []WorkloadCondition `json:"conditions"`
}

// WorkloadCondition is the part of a workload's condition that is read.
type WorkloadCondition struct {
	Type    string                 `json:"type"`
	Status  corev1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason"`
	Message string                 `json:"message"`
}

// Rollout is how far the controller of a workload is.
type Rollout struct {
	// Generation is that of the workload, ObservedGeneration the one that the numbers
	// are about.
	Generation, ObservedGeneration int64
	// How many Pods are wanted, and how many exist, are ready, have been ready for long
	// enough, and are of the newest template.
	Wanted, Existing, Ready, Available, Updated int32
	// Deadline is what a Deployment says when it has given up on the rollout, and
	// Failure when Pods cannot be created, or nothing.
	Deadline, Failure string
}

// Reasons of [Rollout.Judge].
const (
	// ReasonAvailable says that all Pods are updated and available and no other is left.
	ReasonAvailable = "Available"
	// ReasonUnavailable says that Pods of the newest template are not available.
	ReasonUnavailable = "ReplicasUnavailable"
	// ReasonRollingOut says that Pods are yet to be made or to go.
	ReasonRollingOut = "RollingOut"
	// ReasonReplicaFailure says that Pods cannot be created.
	ReasonReplicaFailure = "ReplicaFailure"
	// ReasonDeadlineExceeded says that there has been no progress for too long.
	ReasonDeadlineExceeded = "ProgressDeadlineExceeded"
)

// Rollout returns how far the workload is.
func (w *Workload) Rollout() Rollout {
	return RolloutOf(w.Kind, w.Metadata.Generation, w.Spec.Replicas, &w.Status)
}

// RolloutOf returns the Rollout of a workload of a kind. Replicas are those of its spec,
// nil for the default of 1.
func RolloutOf(kind string, generation int64, replicas *int32, s *WorkloadStatus) Rollout {
	r := Rollout{
		Generation: generation, ObservedGeneration: s.ObservedGeneration,
		Wanted: 1, Existing: s.Replicas, Ready: s.ReadyReplicas, Available: s.AvailableReplicas, Updated: s.UpdatedReplicas,
	}
	if replicas != nil {
		r.Wanted = *replicas
	}
	if kind == "DaemonSet" {
		r.Wanted, r.Existing, r.Ready, r.Available, r.Updated =
			s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberReady, s.NumberAvailable, s.UpdatedNumberScheduled
	}
	for _, c := range s.Conditions {
		switch {
		case c.Type == "Progressing" && c.Status == corev1.ConditionFalse && c.Reason == ReasonDeadlineExceeded:
			r.Deadline = c.Message
		case c.Type == "ReplicaFailure" && c.Status == corev1.ConditionTrue:
			r.Failure = c.Message
		}
	}
	return r
}

// IsObserved reports whether the numbers are about the newest generation.
func (r Rollout) IsObserved() bool { return r.ObservedGeneration >= r.Generation }

// Judge tells how far the rollout is: done when all Pods are updated and available and
// no other is left. A DaemonSet on no node is done, too.
func (r Rollout) Judge() Judgement {
	reason, message := r.progress()
	switch {
	case reason == ReasonAvailable:
		return Judgement{Done, reason, message}
	case r.Deadline != "":
		return Judgement{Failed, ReasonDeadlineExceeded, r.Deadline}
	case r.Failure != "":
		return Judgement{Hindered, ReasonReplicaFailure, r.Failure}
	}
	return Judgement{Working, reason, message}
}

func (r Rollout) progress() (reason, message string) {
	switch {
	case !r.IsObserved():
		return ReasonRollingOut, fmt.Sprintf("status.observedGeneration (%d) is behind metadata.generation (%d)", r.ObservedGeneration, r.Generation)
	case r.Updated < r.Wanted:
		return ReasonRollingOut, fmt.Sprintf("%d of %d replicas are updated", r.Updated, r.Wanted)
	case r.Existing > r.Updated:
		return ReasonRollingOut, fmt.Sprintf("old replicas still there: %d", r.Existing-r.Updated)
	case r.Existing > r.Wanted:
		return ReasonRollingOut, fmt.Sprintf("%d of %d replicas are to go", r.Existing-r.Wanted, r.Existing)
	case r.Available < r.Wanted:
		return ReasonUnavailable, fmt.Sprintf("%d of %d replicas are available", r.Available, r.Wanted)
	}
	return ReasonAvailable, fmt.Sprintf("%d of %d replicas are available", r.Available, r.Wanted)
}
