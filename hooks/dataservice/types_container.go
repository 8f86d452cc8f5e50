package dataservice

import (
	corev1 "k8s.io/api/core/v1"
)

// Container is what a component may say about its container besides, in Kubernetes' names.
type Container struct {
	// WorkingDir is where it starts.
	// +optional
	WorkingDir string `json:"workingDir,omitempty"`
	// ImagePullPolicy says when the image is pulled.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
	// Lifecycle is a core/v1 Lifecycle.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Lifecycle *Unchecked[corev1.Lifecycle] `json:"lifecycle,omitempty"`
	// TerminationMessagePath is a file that tells how it ended.
	// +optional
	TerminationMessagePath string `json:"terminationMessagePath,omitempty"`
	// TerminationMessagePolicy says whether the log tells it, too.
	// +optional
	// +kubebuilder:validation:Enum=File;FallbackToLogsOnError
	TerminationMessagePolicy corev1.TerminationMessagePolicy `json:"terminationMessagePolicy,omitempty"`
	// Stdin keeps its standard input open.
	// +optional
	Stdin bool `json:"stdin,omitempty"`
	// TTY gives it a terminal.
	// +optional
	TTY bool `json:"tty,omitempty"`
	// VolumeDevices are volumes as block devices.
	// +optional
	// +listType=map
	// +listMapKey=devicePath
	// +kubebuilder:validation:MaxItems=50
	VolumeDevices []corev1.VolumeDevice `json:"volumeDevices,omitempty"`
	// ResizePolicy says whether it restarts on a resize.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	ResizePolicy []corev1.ContainerResizePolicy `json:"resizePolicy,omitempty"`
}

// Placement is what a component may say about its Pods besides, in Kubernetes' names.
type Placement struct {
	// PodLabels are labels of the Pods. Ours take precedence.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	PodLabels map[string]LabelValue `json:"podLabels,omitempty"`
	// RuntimeClassName is a RuntimeClass.
	// +optional
	// +kubebuilder:validation:MinLength=1
	RuntimeClassName *string `json:"runtimeClassName,omitempty"`
	// PriorityClassName is a PriorityClass.
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// SchedulerName is a scheduler.
	// +optional
	SchedulerName string `json:"schedulerName,omitempty"`
	// TopologySpreadConstraints are core/v1 TopologySpreadConstraints.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	TopologySpreadConstraints []Spread `json:"topologySpreadConstraints,omitempty"`
	// HostAliases are lines for /etc/hosts.
	// +optional
	// +listType=map
	// +listMapKey=ip
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`
	// DNSPolicy says how they look up names.
	// +optional
	// +kubebuilder:validation:Enum=ClusterFirst;ClusterFirstWithHostNet;Default;None
	DNSPolicy corev1.DNSPolicy `json:"dnsPolicy,omitempty"`
	// DNSConfig is a core/v1 PodDNSConfig.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	DNSConfig *Unchecked[corev1.PodDNSConfig] `json:"dnsConfig,omitempty"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type LabelValue string

// Spread is a core/v1 TopologySpreadConstraint.
type Spread struct {
	// TopologyKey is the label of nodes by which they spread.
	// +required
	TopologyKey string `json:"topologyKey"`
	// TopologySpreadConstraint is the rest.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	corev1.TopologySpreadConstraint `json:",inline"`

	Wrong string `json:"-"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Spread) UnmarshalJSON(text []byte) error {
	s.Wrong = strictly(text, &s.TopologySpreadConstraint)
	s.TopologyKey = s.TopologySpreadConstraint.TopologyKey
	return nil
}
