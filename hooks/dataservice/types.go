// +groupName=d3os-product.com.d3os
// +versionName=v1

package dataservice

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DataService runs a whole product: middleware, a registry, business services,
// gateways and a web front.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=dataservices,singular=dataservice,scope=Namespaced,shortName=dsvc,categories=operetta
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`,description="Ready components of those that run in the cluster"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",message="metadata.name is also the value of a label: use at most 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
type DataService struct {
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

// Spec is the desired state of a DataService. A component that is left out is not
// run.
//
// +kubebuilder:validation:XValidation:rule="has(self.mysql) || !(has(self.api__dash__manager) || has(self.auth) || has(self.ds__dash__adapter) || has(self.es__dash__adapter) || has(self.trd__dash__adapter))",messageExpression="(has(self.api__dash__manager) ? 'api-manager' : has(self.auth) ? 'auth' : has(self.ds__dash__adapter) ? 'ds-adapter' : has(self.es__dash__adapter) ? 'es-adapter' : 'trd-adapter') + ' needs mysql: set spec.mysql, with kind ThirdParty if it runs elsewhere'",message="needs mysql: set spec.mysql, with kind ThirdParty if it runs elsewhere"
// +kubebuilder:validation:XValidation:rule="has(self.eureka) || !(has(self.api__dash__manager) || has(self.auth) || has(self.ds__dash__adapter) || has(self.es__dash__adapter) || has(self.trd__dash__adapter) || has(self.proxy) || has(self.gateway__dash__master) || has(self.gateway__dash__web))",messageExpression="(has(self.api__dash__manager) ? 'api-manager' : has(self.auth) ? 'auth' : has(self.ds__dash__adapter) ? 'ds-adapter' : has(self.es__dash__adapter) ? 'es-adapter' : has(self.trd__dash__adapter) ? 'trd-adapter' : has(self.proxy) ? 'proxy' : has(self.gateway__dash__master) ? 'gateway-master' : 'gateway-web') + ' needs eureka: set spec.eureka, with thirdParty if it runs elsewhere'",message="needs eureka: set spec.eureka, with thirdParty if it runs elsewhere"
// +kubebuilder:validation:XValidation:rule="has(self.uuc) || !has(self.auth)",message="auth needs uuc: set spec.uuc, with kind ThirdParty if it runs elsewhere"
// +kubebuilder:validation:XValidation:rule="has(self.gateway__dash__web) || !has(self.web)",message="web forwards requests to gateway-web: set spec.gateway-web"
// +kubebuilder:validation:XValidation:rule="[[?self.?mysql].filter(c, !has(c.thirdParty)).map(c, c.?name.orValue('mysql-dataservice')) + [?self.?uuc].filter(c, !has(c.thirdParty)).map(c, c.?name.orValue('uuc')) + [?self.?eureka].filter(c, !has(c.thirdParty)).map(c, c.?name.orValue('eureka')) + [?self.?api__dash__manager].map(c, c.?name.orValue('api-manager')) + [?self.?auth].map(c, c.?name.orValue('auth')) + [?self.?ds__dash__adapter].map(c, c.?name.orValue('ds-adapter')) + [?self.?es__dash__adapter].map(c, c.?name.orValue('es-adapter')) + [?self.?trd__dash__adapter].map(c, c.?name.orValue('trd-adapter')) + [?self.?proxy].map(c, c.?name.orValue('proxy')) + [?self.?gateway__dash__master].map(c, c.?name.orValue('gateway-master')) + [?self.?gateway__dash__web].map(c, c.?name.orValue('gateway-web')) + [?self.?web].map(c, c.?name.orValue('web'))].all(l, l.all(n, l.exists_one(m, m in [n])) && (l.all(n, !n.endsWith('-init') && !n.endsWith('-py') && !n.endsWith('-template')) || !((has(self.mysql) && !has(self.mysql.thirdParty) && (has(self.mysql.name) ? self.mysql.name : 'mysql-dataservice') + '-init' in l) || (has(self.trd__dash__adapter) && (has(self.trd__dash__adapter.name) ? self.trd__dash__adapter.name : 'trd-adapter') + '-py' in l) || (has(self.web) && (has(self.web.name) ? self.web.name : 'web') + '-template' in l))))",message="two components have the same name, or one has the name of another component's ConfigMap, which ends in -init, -py or -template: rename one of them"
type Spec struct {
	// MySQL is the database. Where it runs in the cluster it is one StatefulSet or
	// Deployment of one replica, and its credentialsSecretRef names a Secret with
	// the keys root-password and password. The user is dataservice.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.?kind.orValue('StatefulSet') != 'DaemonSet'",message="mysql cannot be a DaemonSet, which would be several databases behind one Service: use StatefulSet, Deployment or ThirdParty"
	// +kubebuilder:validation:XValidation:rule="self.?replica.orValue(1) == 1",message="mysql cannot have more than one replica, which would be several databases behind one Service: set replica to 1, or remove it"
	// +kubebuilder:validation:XValidation:rule="has(self.credentialsSecretRef) || self.?kind.orValue('StatefulSet') == 'ThirdParty'",message="mysql needs a Secret with the keys root-password and password: set credentialsSecretRef to its name"
	// +kubebuilder:validation:XValidation:rule="!has(self.thirdParty) || (self.thirdParty.url.matches('^mysql://[^/]*(/[A-Za-z0-9_-]{0,64})?([?].*)?$') && !self.thirdParty.url.matches('[?&](user|[A-Za-z]*[Pp]assword[0-9]?)='))",message="the address of mysql must be mysql://host, optionally with :port, /database and ?parameters, without credentials: for another JDBC URL set SPRING_DATASOURCE_URL in env of each service"
	// +kubebuilder:validation:XValidation:rule="[?self.?thirdParty].all(t, t.?authType.orValue('none') == 'basic')",message="mysql needs a user and a password: set thirdParty.authType to basic, and credentialsSecretRef to a Secret with the keys username and password"
	// +kubebuilder:validation:XValidation:rule="has(oldSelf.storage) || !has(self.storage) || has(oldSelf.thirdParty) || oldSelf.?kind.orValue('StatefulSet') != 'StatefulSet'",message="storage cannot be added to an existing StatefulSet: create a new DataService with it, and move the data"
	// +kubebuilder:validation:XValidation:rule="self.?name.orValue('mysql-dataservice') in [oldSelf.?name.orValue('mysql-dataservice')] || has(self.thirdParty) || has(oldSelf.thirdParty)",message="the name of a component cannot be changed: restore it, or create a new DataService"
	MySQL *Middleware `json:"mysql,omitempty"`
	// UUC is the user directory and login service. Where it runs in the cluster, it needs an image.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.?kind.orValue('Deployment') == 'ThirdParty' || has(self.image)",message="uuc has no default image: set image, or kind to ThirdParty"
	// +kubebuilder:validation:XValidation:rule="!has(self.thirdParty) || self.thirdParty.url.matches('^https?://[^?]*$')",message="the address of uuc must be http://host or https://host, without credentials and parameters"
	// +kubebuilder:validation:XValidation:rule="!has(self.storage) || has(self.kind)",message="uuc is a Deployment by default, which cannot have storage: set kind to StatefulSet, or remove storage"
	// +kubebuilder:validation:XValidation:rule="!has(self.storage) || has(oldSelf.storage) || has(oldSelf.thirdParty) || oldSelf.?kind.orValue('Deployment') != 'StatefulSet'",message="storage cannot be added to an existing StatefulSet: create a new DataService with it, and move the data"
	// +kubebuilder:validation:XValidation:rule="self.?name.orValue('uuc') in [oldSelf.?name.orValue('uuc')] || has(self.thirdParty) || has(oldSelf.thirdParty)",message="the name of a component cannot be changed: restore it, or create a new DataService"
	UUC *Middleware `json:"uuc,omitempty"`

	// APIManager is the API management service.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, p.port != self.?port.orValue(9085))",messageExpression="has(self.port) ? 'two ports have the same number, in ports or port: change one of them' : '9085 is the default port of api-manager: change the number in ports, or set another port'",message="9085 is the default port of api-manager: change the number in ports, or set another port"
	// +kubebuilder:validation:XValidation:rule="self.?name.orValue('api-manager') in [oldSelf.?name.orValue('api-manager')]",message="the name of a component cannot be changed: restore it, or create a new DataService"
	APIManager *Service `json:"api-manager,omitempty"`
	// Auth is the authentication service.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, p.port != self.?port.orValue(9081))",messageExpression="has(self.port) ? 'two ports have the same number, in ports or port: change one of them' : '9081 is the default port of auth: change the number in ports, or set another port'",message="9081 is the default port of auth: change the number in ports, or set another port"
	// +kubebuilder:validation:XValidation:rule="self.?name.orValue('auth') in [oldSelf.?name.orValue('auth')]",message="the name of a component cannot be changed: restore it, or create a new DataService"
	Auth *Service `json:"auth,omitempty"`
	// DSAdapter reads data sources.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, p.port != self.?port.orValue(9086))",messageExpression="has(self.port) ? 'two ports have the same number, in ports or port: change one of them' : '9086 is the default port of ds-adapter: change the number in ports, or set another port'",message="9086 is the default port of ds-adapter: change the number in ports, or set another port"
	// +kubebuilder:validation:XValidation:rule="self.?name.orValue('ds-adapter') in [oldSelf.?name.orValue('ds-adapter')]",message="the name of a component cannot be changed: restore it, or create a new DataService"
	DSAdapter *Service `json:"ds-adapter,omitempty"`
	// Eureka is the registry in which the services find each other.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, p.port != self.?port.orValue(8761))",messageExpression="has(self.port) ? 'two ports have the same number, in ports or port: change one of them' : '8761 is the default port of eureka: change the number in ports, or set another port'",message="8761 is the default port of eureka: change the number in ports, or set another port"
	// +kubebuilder:validation:XValidation:rule="self.?name.orValue('eureka') in [oldSelf.?name.orValue('eureka')] || has(self.thirdParty) || has(oldSelf.thirdParty)",message="the name of a component cannot be changed: restore it, or create a new DataService"
	Eureka *Registry `json:"eureka,omitempty"`
	// ESAdapter reads Elasticsearch.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, p.port != self.?port.orValue(9087))",messageExpression="has(self.port) ? 'two ports have the same number, in ports or port: change one of them' : '9087 is the default port of es-adapter: change the number in ports, or set another port'",message="9087 is the default port of es-adapter: change the number in ports, or set another port"
	// +kubebuilder:validation:XValidation:rule="self.?name.orValue('es-adapter') in [oldSelf.?name.orValue('es-adapter')]",message="the name of a component cannot be changed: restore it, or create a new DataService"
	ESAdapter *Service `json:"es-adapter,omitempty"`
	// TRDAdapter reads third-party sources.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, p.port != self.?port.orValue(9088))",messageExpression="has(self.port) ? 'two ports have the same number, in ports or port: change one of them' : '9088 is the default port of trd-adapter: change the number in ports, or set another port'",message="9088 is the default port of trd-adapter: change the number in ports, or set another port"
	// +kubebuilder:validation:XValidation:rule="self.?name.orValue('trd-adapter') in [oldSelf.?name.orValue('trd-adapter')]",message="the name of a component cannot be changed: restore it, or create a new DataService"
	TRDAdapter *Service `json:"trd-adapter,omitempty"`
	// GatewayMaster is the gateway to the adapters.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, p.port != self.?port.orValue(9184))",messageExpression="has(self.port) ? 'two ports have the same number, in ports or port: change one of them' : '9184 is the default port of gateway-master: change the number in ports, or set another port'",message="9184 is the default port of gateway-master: change the number in ports, or set another port"
	// +kubebuilder:validation:XValidation:rule="self.?name.orValue('gateway-master') in [oldSelf.?name.orValue('gateway-master')]",message="the name of a component cannot be changed: restore it, or create a new DataService"
	GatewayMaster *Service `json:"gateway-master,omitempty"`
	// GatewayWeb is the gateway for the web front.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, p.port != self.?port.orValue(9084))",messageExpression="has(self.port) ? 'two ports have the same number, in ports or port: change one of them' : '9084 is the default port of gateway-web: change the number in ports, or set another port'",message="9084 is the default port of gateway-web: change the number in ports, or set another port"
	// +kubebuilder:validation:XValidation:rule="self.?name.orValue('gateway-web') in [oldSelf.?name.orValue('gateway-web')]",message="the name of a component cannot be changed: restore it, or create a new DataService"
	GatewayWeb *Service `json:"gateway-web,omitempty"`
	// Proxy is the outbound proxy.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, p.port != self.?port.orValue(9094))",messageExpression="has(self.port) ? 'two ports have the same number, in ports or port: change one of them' : '9094 is the default port of proxy: change the number in ports, or set another port'",message="9094 is the default port of proxy: change the number in ports, or set another port"
	// +kubebuilder:validation:XValidation:rule="self.?name.orValue('proxy') in [oldSelf.?name.orValue('proxy')]",message="the name of a component cannot be changed: restore it, or create a new DataService"
	Proxy *Service `json:"proxy,omitempty"`
	// Web is the front, an nginx.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.ports) || self.ports.all(p, p.port != self.?port.orValue(80))",messageExpression="has(self.port) ? 'two ports have the same number, in ports or port: change one of them' : '80 is the default port of web: change the number in ports, or set another port'",message="80 is the default port of web: change the number in ports, or set another port"
	// +kubebuilder:validation:XValidation:rule="self.?name.orValue('web') in [oldSelf.?name.orValue('web')]",message="the name of a component cannot be changed: restore it, or create a new DataService"
	Web *Service `json:"web,omitempty"`

	// ImagePullSecrets are Secrets for pulling the images.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}

// Middleware is what the services stand on.
//
// +kubebuilder:validation:XValidation:rule="has(self.thirdParty) == (self.?kind.orValue('Deployment') == 'ThirdParty')",message="thirdParty and kind ThirdParty require each other: set both, or neither"
// +kubebuilder:validation:XValidation:rule="self.?kind.orValue('StatefulSet') == 'StatefulSet' || !has(self.storage)",message="storage needs kind StatefulSet: set kind, or remove storage"
// +kubebuilder:validation:XValidation:rule="[?oldSelf.?storage].all(o, [?self.?storage].exists(s, s.size in [o.size] && s.?storageClassName in [o.?storageClassName]) || has(self.thirdParty))",message="the storage of a StatefulSet cannot be changed or removed: restore size and storageClassName; to enlarge the volume, edit the PersistentVolumeClaim"
// +kubebuilder:validation:XValidation:rule="!has(self.volumes) || !has(self.storage) || self.volumes.all(v, v.name != 'data')",message="data is the name of the volume of storage: rename the volume, or remove storage"
type Middleware struct {
	// Workload is what every component has.
	Workload `json:",inline"`
	// Image is what it runs. Only mysql has a default, mysql:8.4.
	// +optional
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image,omitempty"`
	// Kind is how it runs. ThirdParty means that it does not run here. It is
	// StatefulSet for mysql and Deployment for uuc where it is left out.
	// +optional
	// +kubebuilder:validation:Enum=Deployment;StatefulSet;DaemonSet;ThirdParty
	Kind WorkloadKind `json:"kind,omitempty"`
	// ThirdParty is where it runs instead.
	// +optional
	ThirdParty *ThirdParty `json:"thirdParty,omitempty"`
	// Storage is the volume of each Pod of a StatefulSet.
	// +optional
	Storage *Storage `json:"storage,omitempty"`
	// CredentialsSecretRef names a Secret: with root-password and password for
	// mysql, with any of username, password and token for uuc.
	// +optional
	CredentialsSecretRef *SecretRef `json:"credentialsSecretRef,omitempty"`
}

// Workload is what every component has.
type Workload struct {
	// Name names its objects, and cannot be changed. Each component has a default name.
	// +optional
	Name ComponentName `json:"name,omitempty"`
	// Port is the port of the Service and of the container. Each component has a
	// default port.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
	// Replica is the number of Pods, at most 1000. A DaemonSet has none. If
	// omitted, it starts at 1 and an autoscaler may change it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replica *int32 `json:"replica,omitempty"`
	// Resources are requests and limits.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// Pod is more about its Pods.
	Pod `json:",inline"`
}

// Storage is a volume.
//
// +kubebuilder:validation:XValidation:rule="string(self.size).matches('^[+]?[0-9.]*[1-9]')",message="the size of a volume must be above zero, for example 10Gi"
type Storage struct {
	// Size is how much it holds, as in 10Gi.
	// +required
	Size resource.Quantity `json:"size"`
	// StorageClassName is the class. It is the cluster's default where it is left
	// out.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="the name of a StorageClass must consist of lower-case letters, digits, hyphens and dots, and begin and end with a letter or digit"
	StorageClassName *string `json:"storageClassName,omitempty"`
	// OnDelete says what becomes of the volume when the DataService is deleted:
	// Retain, the default, or Delete. Nothing else ever deletes it. With Delete,
	// volumes of replicas that have no Pod any more stay, too.
	// +optional
	// +kubebuilder:default=Retain
	// +kubebuilder:validation:Enum=Retain;Delete
	OnDelete OnDelete `json:"onDelete,omitempty"`
}

// OnDelete says what becomes of a volume.
type OnDelete string

// What may become of a volume.
const (
	Retain OnDelete = "Retain"
	Delete OnDelete = "Delete"
)
