package modelbox

import (
	"github.com/operetta-dev/operetta/operator"
)

// Status is the observed state of a ModelBox.
//
// Conditions are Ready, Progressing, Degraded, ChildrenObserved and, while
// a rollout has failed for good, Stalled.
type Status struct {
	operator.Status `json:",inline"`

	// Ready is the number of ready Pods of those wanted, as in 3/4.
	// +optional
	Ready string `json:"ready,omitempty"`
	// Replicas is the number of Pods.
	// +optional
	Replicas int32 `json:"replicas"`
	// ReadyReplicas is the number of Pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
	// UpdatedReplicas is the number of Pods of the newest template.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`
	// AvailableReplicas is the number of Pods that have been ready for
	// minReadySeconds.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`
	// Selector selects the Pods, as autoscalers read it.
	// +optional
	Selector string `json:"selector,omitempty"`
	// ServiceType is the type of the Service.
	// +optional
	ServiceType ServiceType `json:"serviceType,omitempty"`
	// ClusterIP is the address of the Service in the cluster.
	// +optional
	ClusterIP string `json:"clusterIP,omitempty"`
	// NodePorts are the ports on every node.
	// +optional
	// +listType=atomic
	NodePorts []NodePort `json:"nodePorts,omitempty"`
	// LoadBalancer has the addresses of the load balancer.
	// +optional
	LoadBalancer *LoadBalancer `json:"loadBalancer,omitempty"`
}

// LoadBalancer is the state of a load balancer, in the words of a Service.
type LoadBalancer struct {
	// Ingress are its addresses.
	// +optional
	// +listType=atomic
	Ingress []Ingress `json:"ingress,omitempty"`
}

// Ingress is an address of a load balancer, which has one of the two.
type Ingress struct {
	// IP is its address.
	// +optional
	IP string `json:"ip,omitempty"`
	// Hostname is its name in DNS.
	// +optional
	Hostname string `json:"hostname,omitempty"`
}

// NodePort is a port of the Service and its port on every node.
type NodePort struct {
	// Port is the port of the Service.
	Port int32 `json:"port"`
	// NodePort is the port on every node.
	NodePort int32 `json:"nodePort"`
}
