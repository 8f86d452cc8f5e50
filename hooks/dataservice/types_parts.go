package dataservice

// WorkloadKind is how a component runs.
type WorkloadKind string

// The kinds.
const (
	Deployment   WorkloadKind = "Deployment"
	StatefulSet  WorkloadKind = "StatefulSet"
	DaemonSet    WorkloadKind = "DaemonSet"
	IsThirdParty WorkloadKind = "ThirdParty"
)

// ThirdParty is a component that runs elsewhere. It counts as ready.
//
// +kubebuilder:validation:XValidation:rule="self.?authType.orValue('none') == 'none' || has(self.credentialsSecretRef)",message="authType basic and token need credentialsSecretRef: set it to the name of a Secret with the keys username and password, or token"
type ThirdParty struct {
	// URL is its address, without credentials. The URL of mysql may have a database, which all
	// services use then, and parameters for JDBC: mysql://host:3306/app?useSSL=true.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]+://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?([?][A-Za-z0-9._~%=&,:;+/*-]*)?$')",message="the address must be scheme://host, optionally with :port, /path and, for mysql, ?parameters, without credentials: put them into a Secret and set credentialsSecretRef"
	URL string `json:"url"`
	// AuthType is how it authenticates clients: none, basic (username and password)
	// or token.
	// +optional
	// +kubebuilder:default=none
	// +kubebuilder:validation:Enum=none;basic;token
	AuthType AuthType `json:"authType,omitempty"`
	// CredentialsSecretRef names a Secret with the keys username and password, or
	// token. They stand there as they are: where a URL needs them, they are
	// escaped.
	// +optional
	CredentialsSecretRef *SecretRef `json:"credentialsSecretRef,omitempty"`
}

// AuthType is how a third-party component authenticates clients.
type AuthType string

// The types.
const (
	AuthNone  AuthType = "none"
	AuthBasic AuthType = "basic"
	AuthToken AuthType = "token"
)

// SecretRef names a Secret in the same namespace.
type SecretRef struct {
	// Name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="the name of a Secret must consist of lower-case letters, digits, hyphens and dots, and begin and end with a letter or digit"
	Name string `json:"name"`
}

// Service is a service of the product.
type Service struct {
	// Runtime is how it runs.
	Runtime `json:",inline"`
	// Image is what it runs.
	// +required
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
}

// Registry is the registry, which may run elsewhere.
//
// +kubebuilder:validation:XValidation:rule="has(self.image) != has(self.thirdParty)",message="eureka needs exactly one of image (to run it here) and thirdParty (it runs elsewhere)"
// +kubebuilder:validation:XValidation:rule="!has(self.thirdParty) || self.thirdParty.url.matches('^https?://[^?]*$')",message="the address of eureka must be http://host or https://host with its path, without credentials and parameters"
type Registry struct {
	// Runtime is how it runs.
	Runtime `json:",inline"`
	// Image is what it runs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image,omitempty"`
	// ThirdParty is where it runs instead.
	// +optional
	ThirdParty *ThirdParty `json:"thirdParty,omitempty"`
}

// Runtime is how a service runs, as a Deployment.
type Runtime struct {
	// Workload is what every component has.
	Workload `json:",inline"`
	// NodePort is the Service's port on every node; 0 has one chosen.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	NodePort *int32 `json:"nodePort,omitempty"`
	// Ports are further ports of the Service and of the container.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="[self.map(p, p.port)].all(ports, ports.all(p, ports.exists_one(q, q == p)))",message="two ports have the same number, in ports or port: change one of them"
	Ports []Port `json:"ports,omitempty"`
	// Env are environment variables. They override the generated variables.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	Env map[string]string `json:"env,omitempty"`
	// MaxSurge is how many Pods an update adds at a time. With 0 one goes before the next
	// comes: for a volume that one node mounts. The default is 25%.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	MaxSurge *int32 `json:"maxSurge,omitempty"`
	// Config are configuration files by their names. A generated file of the same
	// name is replaced.
	// +optional
	// +kubebuilder:validation:MaxProperties=6
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 253 && k.matches('^[-._a-zA-Z0-9]+$') && k != '.' && !k.startsWith('..'))",message="the name of a file must consist of letters, digits, hyphens, underscores and dots, and cannot be one dot or begin with two"
	Config map[string]FileContent `json:"config,omitempty"`
}

// FileContent is the content of a configuration file.
//
// +kubebuilder:validation:MaxLength=32768
type FileContent string

// ComponentName names the objects of a component.
//
// +kubebuilder:validation:MaxLength=50
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="name is also the name of a Service: use at most 50 lower-case letters, digits and hyphens, beginning with a letter and ending with a letter or digit"
type ComponentName string

// Port is a further port.
type Port struct {
	// Name tells it from the others.
	// +required
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="self != 'main' && self.matches('^([a-z0-9]+-)*[a-z0-9]+$') && self.matches('[a-z]')",message="the name of a port must consist of at most 15 lower-case letters, digits and hyphens, with at least one letter, and cannot be main, which the field port has"
	Name string `json:"name"`
	// Port is the port of the Service and of the container.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
	// NodePort is its port on every node; 0 has one chosen.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	NodePort *int32 `json:"nodePort,omitempty"`
}
