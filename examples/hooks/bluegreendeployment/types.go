// +groupName=ctl.enisoc.com
// +versionName=v1

package bluegreendeployment

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// BlueGreenDeployment runs Pods behind a Service, and switches the Service to a complete
// second set of Pods when their template changes.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=bluegreendeployments,singular=bluegreendeployment,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Active",type=string,JSONPath=`.status.activeColor`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type BlueGreenDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +required
	Spec Spec `json:"spec"`
	// Status is the observed state.
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "no controller has seen this object yet", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status Status `json:"status,omitempty"`
}

// Spec is the desired state of a BlueGreenDeployment.
type Spec struct {
	// Replicas is the number of Pods of the active color. A change during a rollout
	// applies to the new color.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`
	// MinReadySeconds is how long a Pod must have been ready to count as available.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`
	// Selector selects the Pods, whose labels the template has. The label color is added. It cannot
	// be changed, as in a ReplicaSet.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="selector cannot be changed, as in a ReplicaSet: make a new BlueGreenDeployment"
	Selector metav1.LabelSelector `json:"selector"`
	// Template is what the Pods are made of. A change is rolled out to the inactive color.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.metadata) || !has(self.metadata.labels) || !('controller-uid' in self.metadata.labels)",message="the label controller-uid is reserved for the controller: use another key"
	// +kubebuilder:validation:XValidation:rule="has(self.spec) && size(self.spec.containers) > 0",message="template needs containers: set template.spec.containers"
	Template corev1.PodTemplateSpec `json:"template"`
	// Service is the Service in front of the active color.
	// +required
	Service ServiceTemplate `json:"service"`
}

// ServiceTemplate is what a Service is made of.
type ServiceTemplate struct {
	// Metadata are the name, the labels and the annotations.
	// +required
	Metadata ServiceMetadata `json:"metadata"`
	// Spec is the spec of the Service.
	// +required
	Spec ServiceSpec `json:"spec"`
}

// ServiceSpec is the part of a Service's spec that can be changed at any time.
type ServiceSpec struct {
	// Type is ClusterIP, NodePort or LoadBalancer.
	// +optional
	// +kubebuilder:default=ClusterIP
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	Type corev1.ServiceType `json:"type,omitempty"`
	// Selector selects the Pods. The label color is added.
	// +optional
	Selector map[string]string `json:"selector,omitempty"`
	// Ports are the ports of the Service. If there are several, each needs a name.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule="size(self) == 1 || self.all(p, has(p.name))",message="each of several ports needs a name"
	Ports []corev1.ServicePort `json:"ports"`
}

// ServiceMetadata is the part of an object's metadata that can be chosen.
type ServiceMetadata struct {
	// Name is the name of the Service.
	// +required
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Labels are the labels of the Service.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!('controller-uid' in self)",message="the label controller-uid is reserved for the controller: use another key"
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations are the annotations of the Service.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!(['operetta.dev/hash', 'metacontroller.k8s.io/last-applied-configuration'].exists(k, k in self))",message="the annotations operetta.dev/hash and metacontroller.k8s.io/last-applied-configuration are reserved for the controller: remove them"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Color is one of the two sets of Pods.
type Color string

// The colors.
const (
	Blue  Color = "blue"
	Green Color = "green"
)

// other returns the color that c is not.
func (c Color) other() Color {
	if c == Blue {
		return Green
	}
	return Blue
}

// Status is the observed state of a BlueGreenDeployment.
type Status struct {
	operator.Status `json:",inline"`

	// ActiveColor is the color that the Service selects.
	// +optional
	ActiveColor Color `json:"activeColor,omitempty"`
	// SwitchingTo is the color that the Service is switched to, from before it is until it is
	// observed to be. Meanwhile nothing is scaled down.
	// +optional
	SwitchingTo Color `json:"switchingTo,omitempty"`
	// Active are the Pods of the active color.
	// +optional
	Active ReplicaSetStatus `json:"active,omitempty"`
	// Inactive are the Pods of the other color.
	// +optional
	Inactive ReplicaSetStatus `json:"inactive,omitempty"`
}

// ReplicaSetStatus has the numbers of a ReplicaSet's status.
type ReplicaSetStatus struct {
	// Replicas is the number of Pods.
	// +optional
	Replicas int32 `json:"replicas"`
	// ReadyReplicas is the number of Pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
	// AvailableReplicas is the number of Pods that have been ready for minReadySeconds.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`
}

// IsProgressOf reports whether a status differs from an older one only in what later syncs
// do not read.
func (s Status) IsProgressOf(old Status) bool {
	return s.ActiveColor == old.ActiveColor && s.SwitchingTo == old.SwitchingTo
}
