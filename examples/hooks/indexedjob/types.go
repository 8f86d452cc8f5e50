// +groupName=ctl.enisoc.com
// +versionName=v1

package indexedjob

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// IndexedJob runs a number of Pods to completion, each of which knows its index.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=indexedjobs,singular=indexedjob,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Succeeded",type=integer,JSONPath=`.status.succeeded`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,57}[a-z0-9])?$')",message="metadata.name is part of the names of the Pods: use at most 59 lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
type IndexedJob struct {
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

// Spec is the desired state of an IndexedJob.
type Spec struct {
	// Completions is how many Pods have to succeed, one of each index from 0 on. A job that
	// has completed does not start again.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Completions *int32 `json:"completions,omitempty"`
	// Parallelism is how many Pods may run at a time.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Parallelism *int32 `json:"parallelism,omitempty"`
	// Template is what the Pods are made of. The containers get their index in the variable
	// JOB_INDEX. A change is for the Pods that are yet to come.
	// +required
	// +kubebuilder:validation:XValidation:rule="has(self.spec) && has(self.spec.restartPolicy) && self.spec.restartPolicy in ['OnFailure', 'Never']",message="the Pods of an IndexedJob have to end: set template.spec.restartPolicy to OnFailure or Never"
	// +kubebuilder:validation:XValidation:rule="!has(self.metadata) || !has(self.metadata.labels) || !('controller-uid' in self.metadata.labels)",message="the label controller-uid is reserved for the controller: use another key"
	// +kubebuilder:validation:XValidation:rule="!has(self.metadata) || !has(self.metadata.annotations) || !(['operetta.dev/hash', 'metacontroller.k8s.io/last-applied-configuration'].exists(k, k in self.metadata.annotations))",message="the annotations operetta.dev/hash and metacontroller.k8s.io/last-applied-configuration are reserved for the controller: remove them"
	// +kubebuilder:validation:XValidation:rule="has(self.spec) && size(self.spec.containers) > 0",message="template needs containers: set template.spec.containers"
	Template corev1.PodTemplateSpec `json:"template"`
}

// Status is the observed state of an IndexedJob.
//
// The condition Complete becomes True when a Pod of each index has succeeded, and stays it.
type Status struct {
	operator.Status `json:",inline"`

	// Active is the number of Pods that have not ended.
	// +optional
	Active int32 `json:"active"`
	// Succeeded is the number of Pods that have succeeded.
	// +optional
	Succeeded int32 `json:"succeeded"`
	// Failed is the number of Pods that have failed.
	// +optional
	Failed int32 `json:"failed"`
}

// IsProgressOf reports whether a status differs from an older one only in what later syncs
// do not read.
func (s Status) IsProgressOf(Status) bool { return true }
