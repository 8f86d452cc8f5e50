package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Port is a port of the Service.
type Port struct {
	// Name is filled in with port-<number> where several ports need one. It
	// becomes the container port's name, too, where targetPort is a number, the
	// container port has no name, no other has this one, and it has at most 15
	// characters.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="write lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
	Name string `json:"name,omitempty"`
	// Port is the port of the Service.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
	// TargetPort is the port of the container, by number or by name. It
	// defaults to port. A name is the name of one of containerPorts, of a
	// sidecar's port, or of another of ports and services, whose targetPort is a
	// number.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 65535 : self == '' || self.matches('^([a-z0-9]+-)*[a-z0-9]+$') && self.matches('[a-z]')",message="use a number from 1 to 65535, or a name of at most 15 lower-case letters, digits and hyphens with at least one letter"
	TargetPort *intstr.IntOrString `json:"targetPort,omitempty"`
	// NodePort is the port on every node. It is chosen by the cluster where it
	// is left out or 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	NodePort int32 `json:"nodePort,omitempty"`
	// HostPort is a port of the node that leads to this port of the main
	// container. Only one Pod with it can run on a node.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	HostPort int32 `json:"hostPort,omitempty"`
	// Protocol is TCP, which is the default, UDP or SCTP.
	// +optional
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	Protocol corev1.Protocol `json:"protocol,omitempty"`
	// AppProtocol names the protocol above it, "kubernetes.io/h2c" for
	// example.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="use a name such as http or kubernetes.io/h2c: at most 63 letters, digits, hyphens, underscores and dots, optionally after a domain and a slash"
	AppProtocol *string `json:"appProtocol,omitempty"`
}

// ServiceType is how the Service is reached.
type ServiceType string

// The types of Service.
const (
	ServiceClusterIP    ServiceType = "ClusterIP"
	ServiceNodePort     ServiceType = "NodePort"
	ServiceLoadBalancer ServiceType = "LoadBalancer"
	ServiceHeadless     ServiceType = "Headless"
	ServiceNone         ServiceType = "None"
)

// MainService has the name and the settings of the Service that spec.ports and
// spec.serviceType describe.
type MainService struct {
	// Name names the Service. It defaults to the name of the ModelBox.
	// With another name it is another Service: the one before is deleted.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="the name of a Service must consist of at most 63 lower-case letters, digits and hyphens, begin with a letter, and end with a letter or digit"
	Name            string `json:"name,omitempty"`
	ServiceSettings `json:",inline"`
}

// FurtherService is another Service in front of the Pods.
//
// +kubebuilder:validation:XValidation:rule="self.?serviceType.orValue('NodePort') in ['NodePort', 'LoadBalancer'] || self.ports.all(p, p.?nodePort.orValue(0) == 0)",message="nodePort needs serviceType NodePort or LoadBalancer: change serviceType, or remove nodePort"
// +kubebuilder:validation:XValidation:rule="(self.?serviceType.orValue('ClusterIP') == 'Headless') == (oldSelf.?serviceType.orValue('ClusterIP') == 'Headless')",message="serviceType cannot be changed from or to Headless: give the Service another name"
// +kubebuilder:validation:XValidation:rule="self.?serviceType.orValue('ClusterIP') == 'LoadBalancer' || (!(has(self.loadBalancerClass) || has(self.loadBalancerSourceRanges) || has(self.allocateLoadBalancerNodePorts)) && (!has(self.externalTrafficPolicy) || (has(self.serviceType) ? self.serviceType == 'NodePort' : self.ports.exists(p, p.?nodePort.orValue(0) != 0))))",message="loadBalancerClass, loadBalancerSourceRanges and allocateLoadBalancerNodePorts need serviceType LoadBalancer, and externalTrafficPolicy that or NodePort: set serviceType, or remove them"
type FurtherService struct {
	// Name names the Service.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="the name of a Service must consist of at most 63 lower-case letters, digits and hyphens, begin with a letter, and end with a letter or digit"
	Name string `json:"name"`
	// Ports are the ports of the Service, and of the container behind it.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule="[self.map(p, p.port)].all(ports, ports.all(p, ports.exists_one(q, q == p)))",message="two ports have the same number, which is not possible even with different protocols: change one of them, or serve the other protocol with one more Service"
	// +kubebuilder:validation:XValidation:rule="[self.filter(p, has(p.nodePort) && p.nodePort != 0).map(p, p.nodePort * 3 + (!has(p.protocol) || p.protocol == 'TCP' ? 0 : p.protocol == 'UDP' ? 1 : 2))].all(ports, ports.all(p, ports.exists_one(q, q == p)))",message="two ports have the same nodePort: change one of them, or remove it to have one allocated"
	// +kubebuilder:validation:XValidation:rule="[self.filter(p, has(p.name)).map(p, p.name)].all(names, names.all(n, names.exists_one(m, m == n)))",message="two ports have the same name: rename one of them, or remove its name to get the default"
	Ports []Port `json:"ports"`
	// ServiceType is how the Service is reached, as spec.serviceType. Where it
	// is left out, it is NodePort if a port has a nodePort, else ClusterIP.
	// +optional
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer;Headless
	ServiceType     ServiceType `json:"serviceType,omitempty"`
	ServiceSettings `json:",inline"`
}

// ServiceSettings are what a Service has besides its name, ports and type.
type ServiceSettings struct {
	// Labels are added to the labels of the Service.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && !(k in ['modelbox', 'controller-uid']))",message="the key of a label must have at most 63 letters, digits, hyphens, underscores and dots, beginning and ending with a letter or digit, optionally after a domain and a slash; modelbox and controller-uid are reserved for the controller"
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// Annotations are the Service's, for a load balancer for example.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="!(['operetta.dev/hash', 'metacontroller.k8s.io/last-applied-configuration'].exists(k, k in self))",message="the annotations operetta.dev/hash and metacontroller.k8s.io/last-applied-configuration are reserved for the controller: remove them"
	Annotations map[string]string `json:"annotations,omitempty"`
	// PublishNotReadyAddresses lets DNS name Pods that are not ready.
	// +optional
	PublishNotReadyAddresses bool `json:"publishNotReadyAddresses,omitempty"`
	// SessionAffinity is None, which is the default, or ClientIP: then a client
	// comes to the same Pod again.
	// +optional
	// +kubebuilder:validation:Enum=None;ClientIP
	SessionAffinity corev1.ServiceAffinity `json:"sessionAffinity,omitempty"`
	// SessionAffinityConfig says for how long. It counts with sessionAffinity
	// ClientIP only.
	// +optional
	SessionAffinityConfig *corev1.SessionAffinityConfig `json:"sessionAffinityConfig,omitempty"`
	// InternalTrafficPolicy is Cluster, which is the default, or Local: then
	// clients in the cluster come to Pods on their own node only.
	// +optional
	// +kubebuilder:validation:Enum=Cluster;Local
	InternalTrafficPolicy *corev1.ServiceInternalTrafficPolicy `json:"internalTrafficPolicy,omitempty"`
	// ExternalTrafficPolicy is Cluster, which is the default, or Local: then a
	// node passes on what comes from outside to its own Pods only, with the
	// client's address.
	// +optional
	// +kubebuilder:validation:Enum=Cluster;Local
	ExternalTrafficPolicy corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// LoadBalancerClass chooses who makes the load balancer. It cannot be
	// changed while serviceType is LoadBalancer.
	// +optional
	// +kubebuilder:validation:MinLength=1
	LoadBalancerClass *string `json:"loadBalancerClass,omitempty"`
	// LoadBalancerIP asks for an address of the load balancer. Not all of them
	// heed it; many have an annotation instead.
	// +optional
	LoadBalancerIP string `json:"loadBalancerIP,omitempty"`
	// LoadBalancerSourceRanges are the addresses that the load balancer admits,
	// 10.0.0.0/8 for example.
	// +optional
	// +listType=atomic
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges,omitempty"`
	// AllocateLoadBalancerNodePorts can be set to false where the load balancer
	// needs no ports on the nodes.
	// +optional
	AllocateLoadBalancerNodePorts *bool `json:"allocateLoadBalancerNodePorts,omitempty"`
	// IPFamilyPolicy says whether the Service has addresses of both families. It
	// defaults to SingleStack.
	// +optional
	// +kubebuilder:validation:Enum=SingleStack;PreferDualStack;RequireDualStack
	IPFamilyPolicy *corev1.IPFamilyPolicy `json:"ipFamilyPolicy,omitempty"`
	// IPFamilies are the families of the addresses, in the order of preference.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:Enum=IPv4;IPv6
	IPFamilies []corev1.IPFamily `json:"ipFamilies,omitempty"`
}
