package dataservice

import (
	"github.com/operetta-dev/operetta/operator"
)

// Phase is how far a DataService is.
type Phase string

// The phases.
const (
	// PhasePending is until the first component exists.
	PhasePending Phase = "Pending"
	// PhaseStarting is until all components have been ready.
	PhaseStarting Phase = "Starting"
	// PhaseReady is while all components are ready.
	PhaseReady Phase = "Ready"
	// PhaseDegraded is when one is not ready any more.
	PhaseDegraded Phase = "Degraded"
	// PhaseDeleting is during teardown.
	PhaseDeleting Phase = "Deleting"
)

// Status is the observed state of a DataService.
//
// Conditions are Ready, MiddlewareReady, ServicesReady, ChildrenObserved,
// Stalled while a rollout has failed for good, and VolumesDeleted while a StatefulSet
// of a DataService that is deleted has yet to learn what becomes of its volumes.
type Status struct {
	operator.Status `json:",inline"`

	// Phase is Pending, Starting, Ready, Degraded or Deleting.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// Ready is the number of ready components of those that run in the cluster,
	// as in 11/11.
	// +optional
	Ready string `json:"ready,omitempty"`
	// Components tells of each component, those that wait for others included.
	// +optional
	// +listType=map
	// +listMapKey=component
	Components []ComponentStatus `json:"components,omitempty"`
}

// ComponentStatus is the observed state of a component.
type ComponentStatus struct {
	// Component is what the spec calls it.
	Component string `json:"component"`
	// Name names its objects.
	// +optional
	Name string `json:"name,omitempty"`
	// Kind is how it runs.
	// +optional
	Kind WorkloadKind `json:"kind,omitempty"`
	// Ready is the number of ready Pods of those wanted, as in 1/1. It is empty
	// where nothing runs here.
	// +optional
	Ready string `json:"ready,omitempty"`
	// Message tells what it waits for, or why it is not ready.
	// +optional
	Message string `json:"message,omitempty"`
}
