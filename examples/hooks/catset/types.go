// +groupName=ctl.enisoc.com
// +versionName=v1

package catset

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// CatSet keeps Pods with stable names and volumes, in order, as a StatefulSet does.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=catsets,singular=catset,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,57}[a-z0-9])?$')",message="metadata.name is part of the names of the Pods: use at most 59 lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
type CatSet struct {
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

// Spec is the desired state of a CatSet.
//
// +kubebuilder:validation:XValidation:rule="has(self.volumeClaimTemplates) == has(oldSelf.volumeClaimTemplates)",message="volumeClaimTemplates cannot be added or removed, as in a StatefulSet: make a new CatSet"
type Spec struct {
	// ServiceName is the headless Service that gives the Pods their host names. It cannot
	// be changed, as in a StatefulSet.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="serviceName cannot be changed, as in a StatefulSet: make a new CatSet"
	ServiceName string `json:"serviceName"`
	// Replicas is the number of Pods.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`
	// Selector is read by nobody: Pods belong to the CatSet by owner.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Template is what the Pods are made of. A change replaces them one by one, the last first.
	// +required
	// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(self.spec.restartPolicy) || self.spec.restartPolicy == 'Always'",message="the Pods of a CatSet need restartPolicy Always: set that, or remove restartPolicy"
	// +kubebuilder:validation:XValidation:rule="!has(self.metadata) || !has(self.metadata.labels) || !(['controller-uid', 'catsets.ctl.enisoc.com/template-hash'].exists(k, k in self.metadata.labels))",message="the labels controller-uid and catsets.ctl.enisoc.com/template-hash are reserved for the controller: use another key"
	// +kubebuilder:validation:XValidation:rule="!has(self.metadata) || !has(self.metadata.annotations) || !(['operetta.dev/hash', 'metacontroller.k8s.io/last-applied-configuration'].exists(k, k in self.metadata.annotations))",message="the annotations operetta.dev/hash and metacontroller.k8s.io/last-applied-configuration are reserved for the controller: remove them"
	// +kubebuilder:validation:XValidation:rule="has(self.spec) && size(self.spec.containers) > 0",message="template needs containers: set template.spec.containers"
	Template corev1.PodTemplateSpec `json:"template"`
	// VolumeClaimTemplates are what the claims of each Pod are made of. A claim is named
	// <template>-<Pod>. It stays when its Pod is deleted, and is deleted with the CatSet. They
	// cannot be changed, as in a StatefulSet.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="volumeClaimTemplates cannot be changed, as in a StatefulSet: make a new CatSet"
	VolumeClaimTemplates []VolumeClaimTemplate `json:"volumeClaimTemplates,omitempty"`
}

// VolumeClaimTemplate is what the claims of a volume are made of.
type VolumeClaimTemplate struct {
	// Metadata are the name of the volume, and the labels and annotations of the claims.
	// +required
	Metadata ClaimMetadata `json:"metadata"`
	// Spec is the spec of the claims.
	// +required
	Spec corev1.PersistentVolumeClaimSpec `json:"spec"`
}

// ClaimMetadata is the part of an object's metadata that can be chosen.
type ClaimMetadata struct {
	// Name is the name of the volume.
	// +required
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Labels are the labels of the claims.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!('controller-uid' in self)",message="the label controller-uid is reserved for the controller: use another key"
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations are the annotations of the claims.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!(['operetta.dev/hash', 'metacontroller.k8s.io/last-applied-configuration'].exists(k, k in self))",message="the annotations operetta.dev/hash and metacontroller.k8s.io/last-applied-configuration are reserved for the controller: remove them"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Status is the observed state of a CatSet.
type Status struct {
	operator.Status `json:",inline"`

	// Replicas is the number of Pods.
	// +optional
	Replicas int32 `json:"replicas"`
	// ReadyReplicas is the number of Pods that are ready, from the first to the first that
	// is not.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
}

// IsProgressOf reports whether a status differs from an older one only in what later syncs
// do not read.
func (s Status) IsProgressOf(Status) bool { return true }
