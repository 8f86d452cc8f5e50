// +groupName=apps.jicki.cn
// +versionName=v1alpha1

package podset

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/operator"
)

// PodSet keeps a number of identical Pods.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=podsets,singular=podset,scope=Namespaced,shortName=pset,categories=operetta
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`,description="Ready Pods of those wanted"
// +kubebuilder:printcolumn:name="Up-to-date",type=integer,JSONPath=`.status.updatedReplicas`,description="Pods of the newest template"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,55}[a-z0-9])?$')",message="metadata.name is part of the names of the Pods: use at most 57 lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
type PodSet struct {
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

// Spec is the desired state of a PodSet.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxUnavailable) || self.maxUnavailable != 0 && self.maxUnavailable != '0%' || has(self.maxSurge) && self.maxSurge != 0 && self.maxSurge != '0%'",fieldPath=".maxUnavailable",message="with neither maxUnavailable nor maxSurge no Pod could be updated: write at least 1 for one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.minReadySeconds) || !has(self.progressDeadlineSeconds) || self.progressDeadlineSeconds > self.minReadySeconds",fieldPath=".progressDeadlineSeconds",message="progressDeadlineSeconds must be longer than minReadySeconds, or no change could end in time"
type Spec struct {
	// Size is the number of Pods, from 0 to 5000. It is what kubectl scale and
	// autoscalers set. When it becomes smaller, Pods are deleted in the
	// order of a ReplicaSet: not scheduled before scheduled, pending before running,
	// not ready before ready, then by the lower annotation
	// controller.kubernetes.io/pod-deletion-cost, then Pods that share their node
	// with more others, Pods of an older template, and younger Pods. A large template
	// allows fewer Pods, because every request to the controller carries all of them.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5000
	Size *int32 `json:"size"`
	// Template is what the Pods are made of. Its labels and annotations reach
	// the Pods, its name does not. Without it, the Pods run busybox with sleep
	// 3600. A change replaces the Pods, maxUnavailable at a time; a Pod that is
	// not ready is replaced at once.
	// +optional
	// +kubebuilder:validation:XValidation:rule="size(self.?metadata.?finalizers.orValue([])) == 0",message="the Pods of a PodSet cannot have finalizers: remove template.metadata.finalizers"
	// +kubebuilder:validation:XValidation:rule="self.?spec.?restartPolicy.orValue('Always') == 'Always'",message="the Pods of a PodSet need restartPolicy Always: set that, or remove restartPolicy; to run a Pod once, use a MyJob"
	// +kubebuilder:validation:XValidation:rule="!self.?spec.?activeDeadlineSeconds.hasValue()",message="the Pods of a PodSet cannot have activeDeadlineSeconds: remove it"
	// +kubebuilder:validation:XValidation:rule="size(self.?spec.?containers.orValue([])) > 0",message="template needs containers: set template.spec.containers, or remove template"
	// +kubebuilder:validation:XValidation:rule="!has(self.spec) || [has(self.spec.volumes) ? self.spec.volumes.map(v, v.name) : []].all(names, (!has(self.spec.containers) || self.spec.containers.all(c, !has(c.volumeMounts) || c.volumeMounts.all(m, m.name in names))) && (!has(self.spec.initContainers) || self.spec.initContainers.all(c, !has(c.volumeMounts) || c.volumeMounts.all(m, m.name in names))))",message="a container's volumeMounts has a name that is not in template.spec.volumes: add the volume, or remove the volumeMount"
	// +kubebuilder:validation:XValidation:rule="[?self.?metadata.?labels].all(l, !(['controller-uid', 'podset', 'podset.apps.jicki.cn/template-hash'].exists(k, k in l)))",message="the labels controller-uid, podset and podset.apps.jicki.cn/template-hash are reserved for the controller: use another key"
	// +kubebuilder:validation:XValidation:rule="[?self.?metadata.?annotations].all(a, !(['operetta.dev/hash', 'metacontroller.k8s.io/last-applied-configuration', 'podset.apps.jicki.cn/failures'].exists(k, k in a)))",message="the annotations operetta.dev/hash, metacontroller.k8s.io/last-applied-configuration and podset.apps.jicki.cn/failures are reserved for the controller: remove them"
	Template *corev1.PodTemplateSpec `json:"template,omitempty"`
	// MaxUnavailable is how many Pods a change of the template may take away at
	// a time, as a number or as a share of size ("25%"), which is rounded down,
	// but to no less than 1 where maxSurge is 0.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 5000 : self.matches('^([0-9]|[1-9][0-9]|100)%$')",message="use a number of Pods from 0 to 5000, or a percentage from 0% to 100%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// MaxSurge is how many Pods a change of the template may add at a time, as a
	// number or as a share of size ("25%"), which is rounded up. With it,
	// maxUnavailable may be 0.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 5000 : self.matches('^([0-9]|[1-9][0-9]|100)%$')",message="use a number of Pods from 0 to 5000, or a percentage from 0% to 100%"
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
	// MinReadySeconds is how long a Pod must have been ready to count as
	// available. Only such Pods let a change of the template go on.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`
	// Paused blocks a change of the template. size still works.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// Partition is how many Pods stay of an older template, as a CloneSet has
	// it: to try a change on the others first.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Partition int32 `json:"partition,omitempty"`
	// ProgressDeadlineSeconds is after what time without a Pod that becomes ready
	// the PodSet is Stalled. It must be longer than minReadySeconds.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=1
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`
	// PodsToDelete are names of Pods that go before others when size becomes
	// smaller, and else are replaced, maxUnavailable at a time. Their numbers are
	// not used again while they stand here.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=63
	PodsToDelete []string `json:"podsToDelete,omitempty"`
}

// Status is the observed state of a PodSet. Pods that are being deleted or
// have failed are not counted.
//
// Conditions are Ready, Progressing, ChildrenObserved and, while Pods are
// not ready and none has become so for progressDeadlineSeconds, or size is too large for
// the template, Stalled.
type Status struct {
	operator.Status `json:",inline"`

	// Nodes are the names of the Pods, by their numbers.
	// +optional
	// +listType=atomic
	Nodes []string `json:"nodes,omitempty"`
	// Ready is the number of ready Pods of those wanted, as in 3/4.
	// +optional
	Ready string `json:"ready,omitempty"`
	// Replicas is the number of Pods.
	// +optional
	Replicas int32 `json:"replicas"`
	// ReadyReplicas is the number of Pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
	// AvailableReplicas is the number of Pods that have been ready for
	// minReadySeconds.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas,omitempty"`
	// UpdatedReplicas is the number of Pods of the newest template.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`
	// Selector selects the Pods, as autoscalers read it.
	// +optional
	Selector string `json:"selector,omitempty"`
	// LastFailure is how a Pod, or a container of one, failed last. It stays when
	// that Pod is replaced or runs again.
	// +optional
	LastFailure *operator.Failure `json:"lastFailure,omitempty"`
	// Pending are the numbers of the Pods that have been asked for and have not
	// been observed yet. For 30 seconds they are asked for again, under the same
	// names; then the next free numbers are.
	// +optional
	// +listType=atomic
	Pending []int32 `json:"pending,omitempty"`
}
