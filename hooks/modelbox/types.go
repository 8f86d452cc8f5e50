// +groupName=model.github.com
// +versionName=v1

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ModelBox runs one model server: a Deployment, and a Service in front of it
// where it has ports.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=modelboxes,singular=modelbox,scope=Namespaced,shortName=mb,categories=operetta
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`,description="Ready Pods of those wanted"
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Service type",type=string,JSONPath=`.status.serviceType`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name is also the value of the label modelbox: use at most 63 characters"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z][-a-z0-9]*$') || self.spec.?serviceType.orValue('ClusterIP') == 'None' || size(self.spec.?ports.orValue([])) == 0 || has(self.spec.service) && has(self.spec.service.name)",message="metadata.name is also the name of the Service of ports, which begins with a letter and has no dots: set service.name to another name, or serviceType to None"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.sidecars) || [self.spec.?containerName.orValue(self.metadata.name.replace('.', '-'))].all(main, self.spec.sidecars.all(c, c.name != main))",message="spec.sidecars: a sidecar cannot have the name of the main container, which is containerName or else the name of the ModelBox: rename the sidecar, or write another containerName"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.initContainers) || [self.spec.?containerName.orValue(self.metadata.name.replace('.', '-'))].all(main, self.spec.initContainers.all(c, c.name != main))",message="spec.initContainers: an init container cannot have the name of the main container, which is containerName or else the name of the ModelBox: rename the init container, or write another containerName"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.services) || self.spec.?serviceType.orValue('ClusterIP') == 'None' || size(self.spec.?ports.orValue([])) == 0 || [self.spec.?service.?name.orValue(self.metadata.name)].all(first, self.spec.services.all(s, s.name != first))",message="spec.services: a Service cannot have the name of the one that ports and serviceType describe, which is service.name or else the name of the ModelBox: rename one of them"
type ModelBox struct {
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

// Spec is the desired state of a ModelBox.
//
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || self.?resourceClass.orValue('custom') == 'custom'",message="resources need resourceClass custom: set resourceClass to custom, or remove resources"
// +kubebuilder:validation:XValidation:rule="self.?resourceClass.orValue('small') != 'custom' || has(self.resources)",message="resourceClass custom needs resources: set resources, or set resourceClass to small, medium or large"
// +kubebuilder:validation:XValidation:rule="self.?serviceType.orValue('NodePort') in ['NodePort', 'LoadBalancer'] || !has(self.ports) || self.ports.all(p, p.?nodePort.orValue(0) == 0)",message="nodePort needs serviceType NodePort or LoadBalancer: change serviceType, or remove nodePort"
// +kubebuilder:validation:XValidation:rule="self.?serviceType.orValue('None') == 'None' || size(self.?ports.orValue([])) > 0",message="serviceType needs ports: set ports, or remove serviceType"
// +kubebuilder:validation:XValidation:rule="(self.?serviceType.orValue('ClusterIP') == 'Headless') == (oldSelf.?serviceType.orValue('ClusterIP') == 'Headless') || self.?serviceType.orValue('ClusterIP') == 'None' || oldSelf.?serviceType.orValue('ClusterIP') == 'None' || size(self.?ports.orValue([])) == 0 || size(oldSelf.?ports.orValue([])) == 0",message="serviceType cannot be changed from or to Headless directly: set it to None first, and to the new type once the Service is deleted"
// +kubebuilder:validation:XValidation:rule="!has(self.sidecars) || !has(self.initContainers) || [self.initContainers.map(i, i.name)].all(names, self.sidecars.all(s, !(s.name in names)))",message="a sidecar and an init container have the same name: rename one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeMounts) || [has(self.volumes) ? self.volumes.map(v, v.name) : []].all(names, self.volumeMounts.all(m, m.name in names))",message="volumeMounts has a name that is not in volumes: add the volume, or correct the name"
// +kubebuilder:validation:XValidation:rule="!has(self.sidecars) || [has(self.volumes) ? self.volumes.map(v, v.name) : []].all(names, self.sidecars.all(c, !has(c.volumeMounts) || c.volumeMounts.all(m, m.name in names)))",message="a sidecar's volumeMounts has a name that is not in volumes: add the volume, or correct the name"
// +kubebuilder:validation:XValidation:rule="!has(self.initContainers) || [has(self.volumes) ? self.volumes.map(v, v.name) : []].all(names, self.initContainers.all(c, !has(c.volumeMounts) || c.volumeMounts.all(m, m.name in names)))",message="an init container's volumeMounts has a name that is not in volumes: add the volume, or correct the name"
// +kubebuilder:validation:XValidation:rule="[?self.?service].all(s, self.?serviceType.orValue('ClusterIP') == 'LoadBalancer' || (!(has(s.loadBalancerClass) || has(s.loadBalancerSourceRanges) || has(s.allocateLoadBalancerNodePorts)) && (!has(s.externalTrafficPolicy) || (has(self.serviceType) ? self.serviceType == 'NodePort' : has(self.ports) && self.ports.exists(p, p.?nodePort.orValue(0) != 0)))))",message="service: loadBalancerClass, loadBalancerSourceRanges and allocateLoadBalancerNodePorts need serviceType LoadBalancer, and externalTrafficPolicy that or NodePort: set serviceType, or remove them"
// +kubebuilder:validation:XValidation:rule="self.?rollingUpdate.orValue('25%') == '25%' || !(has(self.maxSurge) || has(self.maxUnavailable) || self.?strategy.orValue('RollingUpdate') == 'Recreate')",message="rollingUpdate is both maxSurge and maxUnavailable, of the strategy RollingUpdate: remove rollingUpdate, or what stands beside it"
// +kubebuilder:validation:XValidation:rule="self.?strategy.orValue('RollingUpdate') != 'Recreate' || !(has(self.maxSurge) || has(self.maxUnavailable))",message="the strategy Recreate deletes all Pods at once: remove maxSurge and maxUnavailable, or write strategy RollingUpdate"
// +kubebuilder:validation:XValidation:rule="!has(self.maxUnavailable) || !has(self.maxSurge) || ![self.maxUnavailable, self.maxSurge].all(n, type(n) == int ? n == 0 : n.matches('^0+%$'))",message="with neither maxUnavailable nor maxSurge no Pod could be updated: write at least 1 for one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.progressDeadlineSeconds) || self.progressDeadlineSeconds > self.?minReadySeconds.orValue(3)",message="progressDeadlineSeconds must be longer than minReadySeconds, or no update could end in time"
// +kubebuilder:validation:XValidation:rule="([?self.?livenessProbe].map(x, [?x.?httpGet.?port, ?x.?tcpSocket.?port]) + [?self.?readinessProbe].map(x, [?x.?httpGet.?port, ?x.?tcpSocket.?port]) + [?self.?startupProbe].map(x, [?x.?httpGet.?port, ?x.?tcpSocket.?port]) + [?self.?lifecycle].map(x, [?x.?postStart.?httpGet.?port, ?x.?postStart.?tcpSocket.?port, ?x.?preStop.?httpGet.?port, ?x.?preStop.?tcpSocket.?port])).all(ports, ports.all(p, type(p) == int || (has(self.containerPorts) && self.containerPorts.exists(q, has(q.name) && q.name == p)) || (has(self.ports) && self.ports.exists(q, (has(q.name) && q.name == p) || (has(q.targetPort) && q.targetPort == p))) || (has(self.services) && self.services.exists(s, s.ports.exists(q, (has(q.name) && q.name == p) || (has(q.targetPort) && q.targetPort == p))))))",message="a probe or lifecycle handler names a port that neither containerPorts nor ports have: add it to containerPorts, or write the number"
// +kubebuilder:validation:XValidation:rule="(!has(self.ports) || self.ports.all(p, !has(p.targetPort) || type(p.targetPort) == int)) && (!has(self.services) || self.services.all(s, s.ports.all(p, !has(p.targetPort) || type(p.targetPort) == int))) || [(has(self.sidecars) ? self.sidecars.map(c, has(c.ports) ? c.ports.map(q, (has(q.name) ? q.name : \"\") + '/' + (has(q.protocol) ? q.protocol : 'TCP')) : []) : []) + (has(self.initContainers) ? self.initContainers.map(c, has(c.restartPolicy) && c.restartPolicy == 'Always' && has(c.ports) ? c.ports.map(q, (has(q.name) ? q.name : \"\") + '/' + (has(q.protocol) ? q.protocol : 'TCP')) : []) : []) + (has(self.services) ? self.services.map(s, s.ports.map(q, (has(q.name) && (!has(q.targetPort) || type(q.targetPort) == int) ? q.name : \"\") + '/' + (has(q.protocol) ? q.protocol : 'TCP'))) : []) + [has(self.ports) ? self.ports.map(q, (has(q.name) && (!has(q.targetPort) || type(q.targetPort) == int) ? q.name : \"\") + '/' + (has(q.protocol) ? q.protocol : 'TCP')) : []] + [has(self.containerPorts) ? self.containerPorts.map(q, (has(q.name) ? q.name : \"\") + '/' + (has(q.protocol) ? q.protocol : 'TCP')) : []]].all(known, (!has(self.ports) || self.ports.all(p, !has(p.targetPort) || type(p.targetPort) == int || [p.targetPort + '/' + (has(p.protocol) ? p.protocol : 'TCP')].all(t, known.exists(names, t in names)))) && (!has(self.services) || self.services.all(s, s.ports.all(p, !has(p.targetPort) || type(p.targetPort) == int || [p.targetPort + '/' + (has(p.protocol) ? p.protocol : 'TCP')].all(t, known.exists(names, t in names))))))",message="a targetPort is the name of no container port of its protocol: add it to containerPorts, or write the number"
type Spec struct {
	MainContainer `json:",inline"`
	PodFields     `json:",inline"`
	RolloutFields `json:",inline"`

	// Name is the application's name and the value of the label
	// app.kubernetes.io/name. It defaults to the name of the ModelBox.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="name becomes the value of a label: use at most 63 letters, digits, hyphens, underscores and dots, beginning and ending with a letter or digit"
	Name string `json:"name,omitempty"`
	// Image is the image of the main container.
	// +required
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
	// Replicas is the number of Pods. Leave it out where an autoscaler that
	// targets the Deployment shall rule it. When it is taken out, the number
	// stays what it was until the autoscaler changes it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`
	// RollingUpdate is the share ("30%") or the number of Pods that an update
	// may take away, and may add, at a time: maxUnavailable and maxSurge in one.
	// It defaults to 25%.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 999999999 : self.matches('^([1-9][0-9]?%|100%|[1-9][0-9]{0,8})$')",message="use a percentage from 1% to 100%, or a number of Pods of at least 1: with 0 no Pod could be updated"
	RollingUpdate *intstr.IntOrString `json:"rollingUpdate,omitempty"`
	// Ports are the ports of the Service, and of the container behind it.
	// Without ports there is no Service. The name of a port becomes the name of
	// the main container's port, where that has none and no other has it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule="[self.map(p, p.port)].all(ports, ports.all(p, ports.exists_one(q, q == p)))",message="two ports have the same number, which is not possible even with different protocols: change one of them, or serve the other protocol with one of services"
	// +kubebuilder:validation:XValidation:rule="[self.filter(p, has(p.nodePort) && p.nodePort != 0).map(p, p.nodePort * 3 + (!has(p.protocol) || p.protocol == 'TCP' ? 0 : p.protocol == 'UDP' ? 1 : 2))].all(ports, ports.all(p, ports.exists_one(q, q == p)))",message="two ports have the same nodePort: change one of them, or remove it to have one allocated"
	// +kubebuilder:validation:XValidation:rule="[self.filter(p, has(p.name)).map(p, p.name)].all(names, names.all(n, names.exists_one(m, m == n)))",message="two ports have the same name: rename one of them, or remove its name to get the default"
	Ports []Port `json:"ports,omitempty"`
	// ContainerPorts are ports of the main container: those that need a name of
	// their own, and those that no Service has. The others follow from ports and
	// services.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule="[self.map(p, p.containerPort)].all(ports, ports.all(p, ports.exists_one(q, q == p)))",message="two containerPorts have the same number, which Metacontroller cannot tell apart even with different protocols: remove one of them (the container can listen on a port that is not listed, and a targetPort can be its number)"
	// +kubebuilder:validation:XValidation:rule="[self.filter(p, has(p.name)).map(p, p.name)].all(names, names.all(n, names.exists_one(m, m == n)))",message="two containerPorts have the same name: rename one of them"
	ContainerPorts []ContainerPort `json:"containerPorts,omitempty"`
	// ServiceType is how the Service is reached. Headless is a ClusterIP
	// Service without an address of its own, None means no Service. Where it is
	// left out, it is NodePort if a port has a nodePort, else ClusterIP.
	// +optional
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer;Headless;None
	ServiceType ServiceType `json:"serviceType,omitempty"`
	// Service has the name, the annotations and other settings of the Service.
	// +optional
	Service *MainService `json:"service,omitempty"`
	// Deployment has labels and annotations of the Deployment.
	// +optional
	Deployment *DeploymentSettings `json:"deployment,omitempty"`
	// Services are further Services in front of the Pods.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	Services []FurtherService `json:"services,omitempty"`

	// ResourceClass sizes the main container. Small requests 250m CPU and 256Mi
	// and is limited to 500m and 512Mi, medium 500m and 1Gi, limited to 1 and
	// 2Gi, large 2 and 4Gi, limited to 4 and 8Gi. Custom takes resources, and is
	// what resources alone mean.
	// +optional
	// +kubebuilder:validation:Enum=small;medium;large;custom
	ResourceClass ResourceClass `json:"resourceClass,omitempty"`
	// Resources are the requests and limits of the main container. They go
	// with resourceClass custom.
	// +optional
	Resources *Resources `json:"resources,omitempty"`

	// Command replaces the entrypoint of the image.
	// +optional
	// +listType=atomic
	Command []string `json:"command,omitempty"`
	// Args replaces the arguments of the image.
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty"`
	// Envs are environment variables of the main container.
	// +optional
	// +listType=map
	// +listMapKey=name
	Envs []corev1.EnvVar `json:"envs,omitempty"`
	// EnvFrom are ConfigMaps and Secrets whose entries become environment
	// variables of the main container.
	// +optional
	// +listType=atomic
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`
	// VolumeMounts mount volumes into the main container.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=50
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// SecurityContext is the main container's.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`

	// LivenessProbe replaces the default one.
	// +optional
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty"`
	// ReadinessProbe replaces the default one.
	// +optional
	ReadinessProbe *corev1.Probe `json:"readinessProbe,omitempty"`
	// StartupProbe replaces the default one.
	// +optional
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty"`
	// DefaultProbes gives the main container a TCP liveness and readiness
	// probe on its first TCP port, for each of the two that is not written
	// here, and a startup probe that grants it five minutes to open the port, or
	// longer where a probe that is written here does. Ports of sidecars are not
	// asked.
	// +optional
	// +kubebuilder:default=true
	DefaultProbes *bool `json:"defaultProbes,omitempty"`

	// Sidecars are further containers of the Pod.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.ports) || [c.ports.map(p, p.containerPort)].all(ports, ports.all(p, ports.exists_one(q, q == p))))",message="a sidecar has two ports with the same number and different protocols, which Metacontroller cannot tell apart: remove one of them (the container can listen on a port that is not listed)"
	// +kubebuilder:validation:XValidation:rule="self.all(c, ([?c.?livenessProbe].map(x, [?x.?httpGet.?port, ?x.?tcpSocket.?port]) + [?c.?readinessProbe].map(x, [?x.?httpGet.?port, ?x.?tcpSocket.?port]) + [?c.?startupProbe].map(x, [?x.?httpGet.?port, ?x.?tcpSocket.?port]) + [?c.?lifecycle].map(x, [?x.?postStart.?httpGet.?port, ?x.?postStart.?tcpSocket.?port, ?x.?preStop.?httpGet.?port, ?x.?preStop.?tcpSocket.?port])).all(ports, ports.all(p, type(p) == int || (has(c.ports) && c.ports.exists(q, has(q.name) && q.name == p)))))",message="a probe or lifecycle handler of a sidecar names a port that its ports do not have: write the number, or correct the name"
	Sidecars []corev1.Container `json:"sidecars,omitempty"`
	// InitContainers run before the others. An init container with restartPolicy
	// Always keeps running beside them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.ports) || [c.ports.map(p, p.containerPort)].all(ports, ports.all(p, ports.exists_one(q, q == p))))",message="an init container has two ports with the same number and different protocols, which Metacontroller cannot tell apart: remove one of them (the container can listen on a port that is not listed)"
	// +kubebuilder:validation:XValidation:rule="self.all(c, ([?c.?livenessProbe].map(x, [?x.?httpGet.?port, ?x.?tcpSocket.?port]) + [?c.?readinessProbe].map(x, [?x.?httpGet.?port, ?x.?tcpSocket.?port]) + [?c.?startupProbe].map(x, [?x.?httpGet.?port, ?x.?tcpSocket.?port]) + [?c.?lifecycle].map(x, [?x.?postStart.?httpGet.?port, ?x.?postStart.?tcpSocket.?port, ?x.?preStop.?httpGet.?port, ?x.?preStop.?tcpSocket.?port])).all(ports, ports.all(p, type(p) == int || (has(c.ports) && c.ports.exists(q, has(q.name) && q.name == p)))))",message="a probe or lifecycle handler of an init container names a port that its ports do not have: write the number, or correct the name"
	InitContainers []corev1.Container `json:"initContainers,omitempty"`
	// Volumes can be mounted into all containers.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// PodLabels are added to the labels of the Pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="the key of a label must have at most 63 letters, digits, hyphens, underscores and dots, beginning and ending with a letter or digit, optionally after a domain and a slash"
	// +kubebuilder:validation:XValidation:rule="!('modelbox' in self)",message="podLabels: the label modelbox is used to select the Pods: use another key"
	PodLabels map[string]LabelValue `json:"podLabels,omitempty"`
	// PodAnnotations are the annotations of the Pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="!(['operetta.dev/hash', 'metacontroller.k8s.io/last-applied-configuration'].exists(k, k in self))",message="the annotations operetta.dev/hash and metacontroller.k8s.io/last-applied-configuration are reserved for the controller: remove them"
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`
	// PodSecurityContext is the Pods'. The seccomp profile is
	// RuntimeDefault where none is written.
	// +optional
	PodSecurityContext *corev1.PodSecurityContext `json:"podSecurityContext,omitempty"`
	// ImagePullSecrets are Secrets for pulling the images.
	// +optional
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// ServiceAccountName is the ServiceAccount of the Pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="the name of a ServiceAccount must consist of lower-case letters, digits, hyphens and dots, and begin and end with a letter or digit"
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// NodeSelector chooses nodes by their labels.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Tolerations let the Pods run on tainted nodes.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// Affinity draws the Pods to nodes and other Pods, or away from them.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="the value of a label must consist of at most 63 letters, digits, hyphens, underscores and dots, and begin and end with a letter or digit"
type LabelValue string

// Resources are requests and limits.
type Resources struct {
	// Requests are reserved for the container.
	// +optional
	// +kubebuilder:validation:MaxProperties=10
	Requests map[corev1.ResourceName]resource.Quantity `json:"requests,omitempty"`
	// Limits are the most that the container gets.
	// +optional
	// +kubebuilder:validation:MaxProperties=10
	Limits map[corev1.ResourceName]resource.Quantity `json:"limits,omitempty"`
	// Claims name the resourceClaims that the container gets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	Claims []corev1.ResourceClaim `json:"claims,omitempty"`
}
