package modelbox

import (
	corev1 "k8s.io/api/core/v1"
)

// MainContainer has fields of the main container, beside those that stand in [Spec].
type MainContainer struct {
	// ContainerName is the name of the main container. It defaults to the name
	// of the ModelBox, with hyphens for dots.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="the name of a container must consist of at most 63 lower-case letters, digits and hyphens, and begin and end with a letter or digit"
	ContainerName string `json:"containerName,omitempty"`
	// ImagePullPolicy says when the image of the main container is pulled. It
	// defaults to Always for the tag latest, else to IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
	// WorkingDir is where the main container starts. It defaults to the
	// folder that the image sets.
	// +optional
	WorkingDir string `json:"workingDir,omitempty"`
	// Lifecycle is what the main container does after its start and before its
	// end, and the signal that ends it.
	// +optional
	Lifecycle *corev1.Lifecycle `json:"lifecycle,omitempty"`
	// TerminationMessagePath is the file that tells how the main container
	// ended. It defaults to /dev/termination-log.
	// +optional
	TerminationMessagePath string `json:"terminationMessagePath,omitempty"`
	// TerminationMessagePolicy is File, which is the default, or
	// FallbackToLogsOnError: the end of the log, if the file is empty and the
	// main container failed.
	// +optional
	// +kubebuilder:validation:Enum=File;FallbackToLogsOnError
	TerminationMessagePolicy corev1.TerminationMessagePolicy `json:"terminationMessagePolicy,omitempty"`
	// Stdin gives the main container a standard input to attach to.
	// +optional
	Stdin bool `json:"stdin,omitempty"`
	// StdinOnce closes the standard input after the first client.
	// +optional
	StdinOnce bool `json:"stdinOnce,omitempty"`
	// TTY gives the main container a terminal. It needs stdin.
	// +optional
	TTY bool `json:"tty,omitempty"`
	// VolumeDevices are volumes that the main container gets as block devices.
	// +optional
	// +listType=map
	// +listMapKey=devicePath
	// +kubebuilder:validation:MaxItems=50
	VolumeDevices []corev1.VolumeDevice `json:"volumeDevices,omitempty"`
	// ResizePolicy says for cpu and memory whether the main container is
	// restarted when its Pod is resized in place.
	// +optional
	// +listType=atomic
	ResizePolicy []corev1.ContainerResizePolicy `json:"resizePolicy,omitempty"`
}

// ContainerPort is a port of the main container.
type ContainerPort struct {
	// Name is what a targetPort, a probe, a NetworkPolicy or a PodMonitor may
	// call the port.
	// +optional
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]+-)*[a-z0-9]+$') && self.matches('[a-z]')",message="use a name of at most 15 lower-case letters, digits and hyphens with at least one letter"
	Name string `json:"name,omitempty"`
	// ContainerPort is the number of the port.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	ContainerPort int32 `json:"containerPort"`
	// Protocol is TCP, which is the default, UDP or SCTP.
	// +optional
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	Protocol corev1.Protocol `json:"protocol,omitempty"`
	// HostPort is a port of the node that leads to this port. Only one Pod with
	// it can run on a node.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	HostPort int32 `json:"hostPort,omitempty"`
}
