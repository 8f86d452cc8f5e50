package build

import (
	corev1 "k8s.io/api/core/v1"
)

// PodFields has fields of the Job and of its Pod, beside those that stand in [Spec]. None of them
// changes what is built.
type PodFields struct {
	// PodMetadata are labels and annotations of the Pod:
	// karpenter.sh/do-not-disrupt, say.
	// +optional
	PodMetadata *Metadata `json:"podMetadata,omitempty"`
	// JobMetadata are labels and annotations of the Job: the label
	// kueue.x-k8s.io/queue-name, say.
	// +optional
	JobMetadata *Metadata `json:"jobMetadata,omitempty"`
	// Affinity draws the Pod to nodes and other Pods, or away from them.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// PriorityClassName is the PriorityClass of the Pod.
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// RuntimeClassName is the RuntimeClass of the Pod, gvisor for example.
	// +optional
	// +kubebuilder:validation:MinLength=1
	RuntimeClassName *string `json:"runtimeClassName,omitempty"`
	// DNSPolicy says how the Pod looks up names. It defaults to ClusterFirst.
	// +optional
	// +kubebuilder:validation:Enum=ClusterFirst;ClusterFirstWithHostNet;Default;None
	DNSPolicy corev1.DNSPolicy `json:"dnsPolicy,omitempty"`
	// DNSConfig adds to what dnsPolicy says.
	// +optional
	DNSConfig *corev1.PodDNSConfig `json:"dnsConfig,omitempty"`
	// HostAliases are lines for the file /etc/hosts of the Pod.
	// +optional
	// +listType=map
	// +listMapKey=ip
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`
}

// Metadata are labels and annotations.
type Metadata struct {
	// Labels are added to the labels.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="the key of a label must have at most 63 letters, digits, hyphens, underscores and dots, beginning and ending with a letter or digit, optionally after a domain and a slash"
	// +kubebuilder:validation:XValidation:rule="!(['build', 'ci.zt.vapi.cc/hash', 'controller-uid', 'job-name', 'batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name'].exists(k, k in self))",message="the labels build, ci.zt.vapi.cc/hash, controller-uid and job-name, also after batch.kubernetes.io/, are reserved for the controllers: use another key"
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// Annotations are added to the annotations.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="!(['ci.zt.vapi.cc/revision', 'operetta.dev/hash', 'metacontroller.k8s.io/last-applied-configuration'].exists(k, k in self))",message="the annotations ci.zt.vapi.cc/revision, operetta.dev/hash and metacontroller.k8s.io/last-applied-configuration are reserved for the controller: remove them"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="the value of a label must consist of at most 63 letters, digits, hyphens, underscores and dots, and begin and end with a letter or digit"
type LabelValue string
