// +groupName=acme.example.com
// +versionName=v1alpha1

package rediscache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// RedisCache is a Redis of some replicas with their volumes.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=rediscaches,singular=rediscache,scope=Namespaced,shortName=rec,categories=operators
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$')",message="metadata.name also names a Service and Pods: write at most 52 lower-case letters, digits and hyphens, beginning with a letter and ending with a letter or digit"
type RedisCache struct {
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

// Spec is the desired state of a RedisCache.
//
// +kubebuilder:validation:XValidation:rule="self.eviction == 'noeviction' || has(self.maxMemory)",message="eviction needs a limit: write maxMemory, or leave eviction out"
type Spec struct {
	// Image is the image of Redis.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^[^\s\v\pZ]([^\n]*[^\s\v\pZ])?$`
	Image string `json:"image"`
	// ExporterImage is the image of a sidecar that serves metrics, which there is none without.
	// +optional
	ExporterImage string `json:"exporterImage,omitempty"`
	// Replicas is the number of Pods.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Replicas *int32 `json:"replicas,omitempty"`
	// MaxMemory is how much Redis keeps, as in 256mb.
	// +optional
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]{0,6}(kb|mb|gb)$`
	MaxMemory string `json:"maxMemory,omitempty"`
	// Eviction is what Redis drops when that is full.
	// +optional
	// +kubebuilder:default=noeviction
	// +kubebuilder:validation:Enum=noeviction;allkeys-lru;volatile-lru
	Eviction string `json:"eviction,omitempty"`
	// Storage is the size of each Pod's volume. It cannot change.
	// +required
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]{0,5}(Mi|Gi|Ti)$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the volumes of a StatefulSet cannot change: create another RedisCache"
	Storage string `json:"storage"`
}

// Status is the observed state of a RedisCache.
type Status struct {
	operator.Status `json:",inline"`

	// ReadyReplicas is the number of Pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
}
