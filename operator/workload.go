package operator

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Workload is the part of a Deployment, ReplicaSet, StatefulSet or DaemonSet that shows the
// progress of its rollout. A hook that needs other fields of this large object
// decodes a struct of its own and calls [RolloutOf].
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

	// Of Deployments and StatefulSets.
	Replicas          int32 `json:"replicas"`
	ReadyReplicas     int32 `json:"readyReplicas"`
	UpdatedReplicas   int32 `json:"updatedReplicas"`
	AvailableReplicas int32 `json:"availableReplicas"`

	// Of DaemonSets.
	DesiredNumberScheduled int32 `json:"desiredNumberScheduled"`
	CurrentNumberScheduled int32 `json:"currentNumberScheduled"`
	NumberReady            int32 `json:"numberReady"`
	UpdatedNumberScheduled int32 `json:"updatedNumberScheduled"`
	NumberAvailable        int32 `json:"numberAvailable"`

	// Of StatefulSets. They are the same once a rollout has completed.
	CurrentRevision string `json:"currentRevision"`
	UpdateRevision  string `json:"updateRevision"`

	Conditions []WorkloadCondition `json:"conditions"`
}

// WorkloadCondition is the part of a workload's condition that is read.
type WorkloadCondition struct {
	Type    string                 `json:"type"`
	Status  corev1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason"`
	Message string                 `json:"message"`
}

// Rollout is the progress of a workload's rollout.
type Rollout struct {
	// Kind is the workload's.
	Kind string
	// Generation is the workload's; ObservedGeneration is the one that its
	// status is about.
	Generation, ObservedGeneration int64
	// Numbers of Pods: wanted, existing, ready, ready for minReadySeconds, and
	// of the newest template.
	Wanted, Existing, Ready, Available, Updated int32
	// Deadline is the message of a Deployment whose newest generation is past its progress deadline,
	// Failure the one when Pods cannot be created. Both may be empty.
	Deadline, Failure string
	// IsPaused is set for a Deployment that somebody has paused.
	IsPaused bool
}

// Reasons of [Rollout.Summary].
const (
	// ReasonAvailable means that all Pods are updated and available, and no old Pod is
	// left.
	ReasonAvailable = "Available"
	// ReasonUnavailable means that Pods of the newest template are not available.
	ReasonUnavailable = "ReplicasUnavailable"
	// ReasonRollingOut means that Pods have yet to be created or deleted.
	ReasonRollingOut = "RollingOut"
	// ReasonReplicaFailure means that Pods cannot be created.
	ReasonReplicaFailure = "ReplicaFailure"
	// ReasonDeadlineExceeded means that there has been no progress for too long.
	ReasonDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonPaused means that a Deployment is paused, by kubectl rollout pause for
	// instance, and does not go on until it is resumed.
	ReasonPaused = "DeploymentPaused"
)

// Rollout returns the progress of the workload's rollout, which is zero for one that is nil.
func (w *Workload) Rollout() Rollout {
	if w == nil {
		return Rollout{}
	}
	return RolloutOf(w.Kind, w.Metadata.Generation, w.Spec.Replicas, &w.Status)
}

// RolloutOf returns the Rollout of a workload of a kind. Replicas are those of its spec,
// nil for the default of 1.
func RolloutOf(kind string, generation int64, replicas *int32, s *WorkloadStatus) Rollout {
	r := Rollout{
		Kind: kind, Generation: generation, ObservedGeneration: s.ObservedGeneration,
		Wanted: 1, Existing: s.Replicas, Ready: s.ReadyReplicas, Available: s.AvailableReplicas, Updated: s.UpdatedReplicas,
	}
	if replicas != nil {
		r.Wanted = *replicas
	}
	switch kind {
	case "ReplicaSet": // a new template is for new Pods
		r.Updated = s.Replicas
	case "DaemonSet":
		r.Wanted, r.Existing, r.Ready, r.Available, r.Updated =
			s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberReady, s.NumberAvailable, s.UpdatedNumberScheduled
	}
	for _, c := range s.Conditions {
		switch {
		case c.Type == "Progressing" && c.Status == corev1.ConditionFalse && c.Reason == ReasonDeadlineExceeded:
			if r.IsObserved() { // it may be over for the newest generation
				r.Deadline = c.Message
			}
		case c.Type == "Progressing" && c.Status == corev1.ConditionFalse: // ReplicaSetCreateError
			r.Failure = c.Message
		case c.Type == "ReplicaFailure" && c.Status == corev1.ConditionTrue:
			r.Failure = c.Message
		case c.Type == "Progressing" && c.Reason == ReasonPaused:
			r.IsPaused = true
		}
	}
	return r
}

// HasCompleted reports whether the rollout of the newest template was complete at some time, with
// all Pods ready, though some may have failed since. Of a DaemonSet nothing tells that.
func (s *WorkloadStatus) HasCompleted(r Rollout) bool {
	if !r.IsObserved() || r.Updated < r.Wanted {
		return false
	}
	if r.Kind == "StatefulSet" {
		return s.UpdateRevision != "" && s.CurrentRevision == s.UpdateRevision
	}
	return slices.ContainsFunc(s.Conditions, func(c WorkloadCondition) bool {
		return c.Type == "Progressing" && c.Reason == "NewReplicaSetAvailable"
	})
}

// IsObserved reports whether the numbers are about the newest generation.
func (r Rollout) IsObserved() bool { return r.ObservedGeneration >= r.Generation }

// NotObserved is the message of a workload that is not observed yet.
func (r Rollout) NotObserved() string {
	return fmt.Sprintf("waiting for the %s controller to observe generation %d", r.Kind, r.Generation)
}

// Summary returns the state of the rollout: done when all Pods are updated and
// available and no old Pod is left. A DaemonSet without nodes is done, too.
func (r Rollout) Summary() Summary {
	reason, message := r.progress()
	switch {
	case reason == ReasonAvailable:
		return Summary{State: Done, Reason: reason, Message: message}
	case r.IsPaused:
		return Summary{State: Degraded, Reason: ReasonPaused, Message: message + ", and the Deployment is paused: resume it, with kubectl rollout resume"}
	case r.Deadline != "" && r.Failure != "":
		return Summary{State: Failed, Reason: ReasonDeadlineExceeded, Message: r.Deadline + " Pods cannot be created: " + Quoted(r.Failure)}
	case r.Deadline != "":
		return Summary{State: Failed, Reason: ReasonDeadlineExceeded, Message: r.Deadline}
	case r.Failure != "":
		return Summary{State: Degraded, Reason: ReasonReplicaFailure, Message: Quoted(r.Failure)}
	}
	return Summary{State: Progressing, Reason: reason, Message: message}
}

func (r Rollout) progress() (reason, message string) {
	switch {
	case !r.IsObserved():
		return ReasonRollingOut, r.NotObserved()
	case r.Updated < r.Wanted:
		return ReasonRollingOut, fmt.Sprintf("%d of %d replicas are updated", r.Updated, r.Wanted)
	case r.Existing > r.Updated:
		return ReasonRollingOut, fmt.Sprintf("waiting for old replicas to terminate: %d", r.Existing-r.Updated)
	case r.Existing > r.Wanted:
		return ReasonRollingOut, fmt.Sprintf("waiting for surplus replicas to terminate: %d", r.Existing-r.Wanted)
	case r.Available < r.Wanted:
		return ReasonUnavailable, fmt.Sprintf("%d of %d replicas are available", r.Available, r.Wanted)
	}
	return ReasonAvailable, fmt.Sprintf("%d of %d replicas are available", r.Available, r.Wanted)
}
