package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// PodFields has fields of the Pods, beside those that stand in [Spec].
type PodFields struct {
	// TerminationGracePeriodSeconds is how long a Pod that is deleted may take
	// to end by itself, to answer what it was asked. It defaults to 30.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
	// PriorityClassName is the PriorityClass of the Pods.
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// PreemptionPolicy says whether the Pods may take the place of Pods of a
	// lower priority. It defaults to what the PriorityClass says.
	// +optional
	// +kubebuilder:validation:Enum=PreemptLowerPriority;Never
	PreemptionPolicy *corev1.PreemptionPolicy `json:"preemptionPolicy,omitempty"`
	// TopologySpreadConstraints spread the Pods over nodes and zones. Their
	// labelSelector may select the label modelbox, or one of podLabels.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// SchedulerName is the scheduler of the Pods.
	// +optional
	SchedulerName string `json:"schedulerName,omitempty"`
	// NodeName is a node to run on without asking a scheduler.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// RuntimeClassName is the RuntimeClass of the Pods, nvidia for example.
	// +optional
	// +kubebuilder:validation:MinLength=1
	RuntimeClassName *string `json:"runtimeClassName,omitempty"`
	// Overhead is what the RuntimeClass adds to the requests of each Pod.
	// +optional
	// +kubebuilder:validation:MaxProperties=10
	Overhead map[corev1.ResourceName]resource.Quantity `json:"overhead,omitempty"`
	// ResourceClaims are devices that the Pods claim. resources.claims gives
	// them to the main container.
	// +optional
	// +listType=map
	// +listMapKey=name
	ResourceClaims []corev1.PodResourceClaim `json:"resourceClaims,omitempty"`
	// ReadinessGates are conditions that must be True before a Pod is ready.
	// +optional
	// +listType=atomic
	ReadinessGates []corev1.PodReadinessGate `json:"readinessGates,omitempty"`

	// AutomountServiceAccountToken gives the Pods the token of their
	// ServiceAccount. It defaults to what the ServiceAccount says.
	// +optional
	AutomountServiceAccountToken *bool `json:"automountServiceAccountToken,omitempty"`
	// EnableServiceLinks gives the Pods a variable for each Service of the
	// namespace. It defaults to true.
	// +optional
	EnableServiceLinks *bool `json:"enableServiceLinks,omitempty"`
	// ShareProcessNamespace lets the containers of a Pod see the processes of
	// each other.
	// +optional
	ShareProcessNamespace *bool `json:"shareProcessNamespace,omitempty"`
	// HostNetwork runs the Pods in the network of their node: with it, only one
	// of them can have a port of a node.
	// +optional
	HostNetwork bool `json:"hostNetwork,omitempty"`
	// HostPID shows the Pods the processes of their node.
	// +optional
	HostPID bool `json:"hostPID,omitempty"`
	// HostIPC shows the Pods the shared memory of their node.
	// +optional
	HostIPC bool `json:"hostIPC,omitempty"`

	// DNSPolicy says how the Pods look up names. It defaults to ClusterFirst;
	// with hostNetwork, ClusterFirstWithHostNet finds Services.
	// +optional
	// +kubebuilder:validation:Enum=ClusterFirst;ClusterFirstWithHostNet;Default;None
	DNSPolicy corev1.DNSPolicy `json:"dnsPolicy,omitempty"`
	// DNSConfig adds to what dnsPolicy says.
	// +optional
	DNSConfig *corev1.PodDNSConfig `json:"dnsConfig,omitempty"`
	// HostAliases are lines for the file /etc/hosts of the Pods.
	// +optional
	// +listType=map
	// +listMapKey=ip
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`
	// Hostname replaces the name of the Pod as its hostname.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Hostname string `json:"hostname,omitempty"`
	// Subdomain is the name of a headless Service: the hostname stands before it
	// in the Pods' domain name.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Subdomain string `json:"subdomain,omitempty"`
	// SetHostnameAsFQDN makes the whole domain name the hostname.
	// +optional
	SetHostnameAsFQDN *bool `json:"setHostnameAsFQDN,omitempty"`
}
