package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "model.github.com", Version: "v1"}

// ModelBox has what the measured ones use.
type ModelBox struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec"`
	Status Status `json:"status,omitempty"`
}

// Spec is the desired state.
type Spec struct {
	Image    string `json:"image"`
	Replicas *int32 `json:"replicas,omitempty"`
	Ports    []Port `json:"ports,omitempty"`
}

// Port is one of the Service.
type Port struct {
	Port int32 `json:"port"`
}

// Status is the observed state.
type Status struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Ready              string             `json:"ready,omitempty"`
	Replicas           int32              `json:"replicas"`
	ReadyReplicas      int32              `json:"readyReplicas"`
	UpdatedReplicas    int32              `json:"updatedReplicas"`
	AvailableReplicas  int32              `json:"availableReplicas"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// ModelBoxList is a list of them.
type ModelBoxList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ModelBox `json:"items"`
}

// DeepCopy copies a status.
func (s *Status) DeepCopy() *Status {
	copied := *s
	copied.Conditions = slices.Clone(s.Conditions)
	return &copied
}

// DeepCopyObject copies a ModelBox.
func (b *ModelBox) DeepCopyObject() runtime.Object {
	copied := *b
	b.DeepCopyInto(&copied.ObjectMeta)
	if b.Spec.Replicas != nil {
		replicas := *b.Spec.Replicas
		copied.Spec.Replicas = &replicas
	}
	copied.Spec.Ports = slices.Clone(b.Spec.Ports)
	copied.Status = *b.Status.DeepCopy()
	return &copied
}

// DeepCopyObject copies a list.
func (l *ModelBoxList) DeepCopyObject() runtime.Object {
	copied := *l
	copied.Items = make([]ModelBox, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].DeepCopyObject().(*ModelBox)
	}
	return &copied
}
