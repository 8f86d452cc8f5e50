package modelbox

import (
	"k8s.io/apimachinery/pkg/util/intstr"
)

// RolloutFields has fields of the Deployment, beside those that stand in [Spec].
type RolloutFields struct {
	// Strategy is RollingUpdate, which is the default, or Recreate: then an
	// update deletes all Pods before it makes new ones.
	// +optional
	// +kubebuilder:validation:Enum=RollingUpdate;Recreate
	Strategy Strategy `json:"strategy,omitempty"`
	// MaxSurge is how many Pods an update may add at a time, as a number or as
	// a share ("25%") of replicas, which is rounded up. With 0, an update needs
	// no node, GPU or other device more. It defaults to 25%.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^[0-9]+%$')",message="use a number of Pods, or a percentage: maxSurge: 1, or maxSurge: 25%"
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
	// MaxUnavailable is how many Pods an update may take away at a time, as a
	// number or as a share ("25%") of replicas, which is rounded down. It
	// defaults to 25%.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^([0-9]|[1-9][0-9]|100)%$')",message="use a number of Pods, or a percentage from 0% to 100%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// MinReadySeconds is how long a Pod must have been ready to count as
	// available. It defaults to 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`
	// ProgressDeadlineSeconds is after what time without progress an update is
	// Stalled. It defaults to 600, or where the probes grant a container more
	// than five minutes to start, to what they grant and five minutes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`
	// RevisionHistoryLimit is how many old ReplicaSets are kept, for
	// kubectl rollout undo. It defaults to 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
	// Paused blocks a change of the Pods. replicas still works.
	// +optional
	Paused bool `json:"paused,omitempty"`
}

// Strategy is how an update replaces the Pods.
type Strategy string

// The strategies.
const (
	StrategyRollingUpdate Strategy = "RollingUpdate"
	StrategyRecreate      Strategy = "Recreate"
)

// DeploymentSettings are what the Deployment has besides what is in other fields.
type DeploymentSettings struct {
	// Labels are added to the labels of the Deployment.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && !(k in ['modelbox', 'controller-uid']))",message="the key of a label must have at most 63 letters, digits, hyphens, underscores and dots, beginning and ending with a letter or digit, optionally after a domain and a slash; modelbox and controller-uid are reserved for the controller"
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// Annotations are the Deployment's.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="!(['operetta.dev/hash', 'metacontroller.k8s.io/last-applied-configuration', 'deployment.kubernetes.io/revision'].exists(k, k in self))",message="the annotations operetta.dev/hash, metacontroller.k8s.io/last-applied-configuration and deployment.kubernetes.io/revision are reserved for controllers: remove them"
	Annotations map[string]string `json:"annotations,omitempty"`
}
