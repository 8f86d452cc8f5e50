package e2e

// rule is one thing that the schema of a kind refuses.
type rule struct {
	// message is what kubectl prints, in part: for a rule of types.go, the
	// message that is written there.
	message string
	// before is the spec of the object that is changed. Without one the object
	// is new.
	before string
	// bad is a spec that breaks this rule only, and good one next to it that
	// breaks none.
	bad, good string
	// badName is the name of the object with the bad spec, if not "rule".
	badName string
}

// Messages that several rules share.
const (
	headlessMessage   = "a Service cannot become Headless, nor stop being it: set serviceType None first, and the new type when the Service is gone"
	nodePortMessage   = "nodePort needs serviceType NodePort or LoadBalancer: change serviceType, or leave nodePort out"
	needsPortsMessage = "a Service needs ports: write ports, or leave serviceType out"
	classMessage      = "resources go with resourceClass custom: leave out resources, or write resourceClass: custom"
	nameMessage       = "metadata.name also names a Service: write at most 63 lower-case letters, digits and hyphens, beginning with a letter and ending with a letter or digit"
	labelMessage      = "the name becomes a label value: write at most 63 letters, digits, hyphens, underscores and dots, beginning and ending with a letter or digit"
	ratioMessage      = "write a share from 1% to 100%, or a number of Pods of at least 1: with less, no Pod could ever be updated"
	portNameMessage   = "write lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
	targetPortMessage = "write a number from 1 to 65535, or a name of at most 15 lower-case letters, digits and hyphens with a letter among them"
	volumeMessage     = "each of volumeMounts names a volume: add the missing one to volumes"
	requestMessage    = "a request is higher than its limit: lower the request, or raise the limit"
	probeMessage      = "a probe does one thing: write one of exec, httpGet, tcpSocket and grpc"
	imageMessage      = "a container has no image: write the image that it shall run"
	portTwiceMessage  = "a port number stands twice: write each number once, also where the protocols differ; a second ModelBox can serve the other protocol"
)

// modelBoxRules maps a name of its own to each rule.
var modelBoxRules = map[string]rule{
	"liveness probe that does nothing": {
		message: probeMessage,
		bad:     `{image: nginx, livenessProbe: {periodSeconds: 5}}`,
		good:    `{image: nginx, livenessProbe: {periodSeconds: 5, grpc: {port: 80}}}`,
	},
	"readiness probe that does two things": {
		message: probeMessage,
		bad:     `{image: nginx, readinessProbe: {tcpSocket: {port: 80}, exec: {command: ["true"]}}}`,
		good:    `{image: nginx, readinessProbe: {exec: {command: ["true"]}}}`,
	},
	"startup probe that does nothing": {
		message: probeMessage,
		bad:     `{image: nginx, startupProbe: {}}`,
		good:    `{image: nginx, startupProbe: {httpGet: {port: 80}}}`,
	},
	"sidecar without an image": {
		message: imageMessage,
		bad:     `{image: nginx, sidecars: [{name: a, image: busybox}, {name: b}]}`,
		good:    `{image: nginx, sidecars: [{name: a, image: busybox}, {name: b, image: busybox}]}`,
	},
	"init container with an empty image": {
		message: imageMessage,
		bad:     `{image: nginx, initContainers: [{name: a, image: ""}]}`,
		good:    `{image: nginx, initContainers: [{name: a, image: busybox}]}`,
	},
	"volume in capitals": {
		message: "the name of a volume has lower-case letters, digits and hyphens, and begins and ends with a letter or digit",
		bad:     `{image: nginx, volumes: [{name: A_b, emptyDir: {}}]}`,
		good:    `{image: nginx, volumes: [{name: a-b, emptyDir: {}}]}`,
	},
	"application protocol in two words": {
		message: "write a name as in http or kubernetes.io/h2c: at most 63 letters, digits, hyphens, underscores and dots, perhaps with a domain and a slash before it",
		bad:     `{image: nginx, ports: [{port: 80, appProtocol: my protocol}]}`,
		good:    `{image: nginx, ports: [{port: 80, appProtocol: kubernetes.io/h2c}]}`,
	},
	"label with a value in two words": {
		message: "a label's value has at most 63 letters, digits, hyphens, underscores and dots, and begins and ends with a letter or digit",
		bad:     `{image: nginx, podLabels: {team: a b}}`,
		good:    `{image: nginx, podLabels: {team: a_b, empty: ""}}`,
	},
	"label with a key in two words": {
		message: "a label's key has at most 63 letters, digits, hyphens, underscores and dots, begins and ends with a letter or digit, and may have a domain and a slash before it",
		bad:     `{image: nginx, podLabels: {my team: a}}`,
		good:    `{image: nginx, podLabels: {example.com/my-team: a}}`,
	},
	"service account in capitals": {
		message: "write the name of a ServiceAccount: lower-case letters, digits, hyphens and dots, beginning and ending with a letter or digit",
		bad:     `{image: nginx, serviceAccountName: Bad Name}`,
		good:    `{image: nginx, serviceAccountName: good.name-1}`,
	},
	"device without a limit": {
		message: "a device such as nvidia.com/gpu needs a limit: write it in limits, which alone is enough",
		bad:     `{image: nginx, resources: {requests: {nvidia.com/gpu: 1}}}`,
		good:    `{image: nginx, resources: {limits: {nvidia.com/gpu: 1}}}`,
	},
	"name with a dot": {
		message: nameMessage, badName: "rule.v2",
		bad:  `{image: nginx}`,
		good: `{image: nginx}`,
	},
	"name that begins with a digit": {
		message: nameMessage, badName: "4rule",
		bad:  `{image: nginx}`,
		good: `{image: nginx}`,
	},
	"name of 64 letters": {
		message: nameMessage, badName: "a123456789012345678901234567890123456789012345678901234567890123",
		bad:  `{image: nginx}`,
		good: `{image: nginx}`,
	},
	"sidecar with the main container's name": {
		message: "spec.sidecars: the main container has the ModelBox's name: give the sidecar another name",
		bad:     `{image: nginx, sidecars: [{name: rule, image: busybox}]}`,
		good:    `{image: nginx, sidecars: [{name: rule-2, image: busybox}]}`,
	},
	"init container with the main container's name": {
		message: "spec.initContainers: the main container has the ModelBox's name: give the init container another name",
		bad:     `{image: nginx, initContainers: [{name: rule, image: busybox}]}`,
		good:    `{image: nginx, initContainers: [{name: rule-2, image: busybox}]}`,
	},
	"resources of a class": {
		message: classMessage,
		bad:     `{image: nginx, resourceClass: small, resources: {requests: {cpu: 1}}}`,
		good:    `{image: nginx, resourceClass: custom, resources: {requests: {cpu: 1}}}`,
	},
	"class with empty resources": {
		message: classMessage,
		bad:     `{image: nginx, resourceClass: large, resources: {}}`,
		good:    `{image: nginx, resources: {}}`,
	},
	"custom without resources": {
		message: "resourceClass custom takes its numbers from resources: write resources, or choose small, medium or large",
		bad:     `{image: nginx, resourceClass: custom}`,
		good:    `{image: nginx, resourceClass: medium}`,
	},
	"unknown class": {
		message: `spec.resourceClass: Unsupported value: "huge": supported values: "small", "medium", "large", "custom"`,
		bad:     `{image: nginx, resourceClass: huge}`,
		good:    `{image: nginx, resourceClass: large}`,
	},
	"node port of a ClusterIP": {
		message: nodePortMessage,
		bad:     `{image: nginx, serviceType: ClusterIP, ports: [{port: 80, nodePort: 30080}]}`,
		good:    `{image: nginx, serviceType: NodePort, ports: [{port: 80, nodePort: 30080}]}`,
	},
	"node port of a headless Service": {
		message: nodePortMessage,
		bad:     `{image: nginx, serviceType: Headless, ports: [{port: 80}, {port: 81, nodePort: 30080}]}`,
		good:    `{image: nginx, serviceType: LoadBalancer, ports: [{port: 80}, {port: 81, nodePort: 30080}]}`,
	},
	"node port of no Service": {
		message: nodePortMessage,
		bad:     `{image: nginx, serviceType: None, ports: [{port: 80, nodePort: 30080}]}`,
		good:    `{image: nginx, ports: [{port: 80, nodePort: 30080}]}`,
	},
	"service type without ports": {
		message: needsPortsMessage,
		bad:     `{image: nginx, serviceType: LoadBalancer}`,
		good:    `{image: nginx, serviceType: None}`,
	},
	"service type with empty ports": {
		message: needsPortsMessage,
		bad:     `{image: nginx, serviceType: ClusterIP, ports: []}`,
		good:    `{image: nginx, ports: []}`,
	},
	"becoming headless": {
		message: headlessMessage,
		before:  `{image: nginx, serviceType: ClusterIP, ports: [{port: 80}]}`,
		bad:     `{image: nginx, serviceType: Headless, ports: [{port: 80}]}`,
		good:    `{image: nginx, serviceType: None, ports: [{port: 80}]}`,
	},
	"becoming headless from the default type": {
		message: headlessMessage,
		before:  `{image: nginx, ports: [{port: 80}]}`,
		bad:     `{image: nginx, serviceType: Headless, ports: [{port: 80}]}`,
		good:    `{image: nginx, serviceType: ClusterIP, ports: [{port: 80}]}`,
	},
	"becoming headless with other ports": {
		message: headlessMessage,
		before:  `{image: nginx, serviceType: NodePort, ports: [{port: 80}]}`,
		bad:     `{image: nginx, serviceType: Headless, ports: [{port: 81}]}`,
		good:    `{image: nginx, serviceType: LoadBalancer, ports: [{port: 81}]}`,
	},
	"leaving headless": {
		message: headlessMessage,
		before:  `{image: nginx, serviceType: Headless, ports: [{port: 80}]}`,
		bad:     `{image: nginx, serviceType: LoadBalancer, ports: [{port: 80}]}`,
		good:    `{image: nginx, serviceType: Headless, ports: [{port: 81}]}`,
	},
	"leaving headless by leaving the type out": {
		message: headlessMessage,
		before:  `{image: nginx, serviceType: Headless, ports: [{port: 80}]}`,
		bad:     `{image: nginx, ports: [{port: 80}]}`,
		good:    `{image: nginx}`,
	},
	"leaving headless after None is allowed": {
		message: needsPortsMessage,
		before:  `{image: nginx, serviceType: None, ports: [{port: 80}]}`,
		bad:     `{image: nginx, serviceType: Headless}`,
		good:    `{image: nginx, serviceType: Headless, ports: [{port: 80}]}`,
	},
	"sidecar and init container of one name": {
		message: "a sidecar and an init container have the same name: rename one of them",
		bad:     `{image: nginx, sidecars: [{name: proxy, image: busybox}], initContainers: [{name: first, image: busybox}, {name: proxy, image: busybox}]}`,
		good:    `{image: nginx, sidecars: [{name: proxy, image: busybox}], initContainers: [{name: first, image: busybox}, {name: second, image: busybox}]}`,
	},
	"two sidecars of one name": {
		message: `spec.sidecars[1]: Duplicate value: {"name":"proxy"}`,
		bad:     `{image: nginx, sidecars: [{name: proxy, image: busybox}, {name: proxy, image: busybox}]}`,
		good:    `{image: nginx, sidecars: [{name: proxy, image: busybox}, {name: other, image: busybox}]}`,
	},
	"mount without volumes": {
		message: volumeMessage,
		bad:     `{image: nginx, volumeMounts: [{name: model, mountPath: /model}]}`,
		good:    `{image: nginx, volumeMounts: []}`,
	},
	"mount of another volume": {
		message: volumeMessage,
		bad:     `{image: nginx, volumes: [{name: models, emptyDir: {}}], volumeMounts: [{name: model, mountPath: /model}]}`,
		good:    `{image: nginx, volumes: [{name: model, emptyDir: {}}], volumeMounts: [{name: model, mountPath: /model}]}`,
	},
	"two mounts at one path": {
		message: `spec.volumeMounts[1]: Duplicate value: {"mountPath":"/m"}`,
		bad:     `{image: nginx, volumes: [{name: m, emptyDir: {}}], volumeMounts: [{name: m, mountPath: /m}, {name: m, mountPath: /m}]}`,
		good:    `{image: nginx, volumes: [{name: m, emptyDir: {}}], volumeMounts: [{name: m, mountPath: /m}, {name: m, mountPath: /n}]}`,
	},
	"label of the selector": {
		message: "podLabels: the label modelbox selects the Pods: choose another key",
		bad:     `{image: nginx, podLabels: {modelbox: other}}`,
		good:    `{image: nginx, podLabels: {team: other}}`,
	},
	"application name with a space": {
		message: labelMessage,
		bad:     `{image: nginx, name: "my app"}`,
		good:    `{image: nginx, name: "My_app-1.0"}`,
	},
	"application name that ends with a dot": {
		message: labelMessage,
		bad:     `{image: nginx, name: "app."}`,
		good:    `{image: nginx, name: ""}`,
	},
	"long application name": {
		message: "spec.name: Too long: may not be more than 63 bytes",
		bad:     `{image: nginx, name: "a123456789012345678901234567890123456789012345678901234567890123"}`,
		good:    `{image: nginx, name: "a12345678901234567890123456789012345678901234567890123456789012"}`,
	},
	"no image": {
		message: "spec.image: Required value",
		bad:     `{replicas: 1}`,
		good:    `{replicas: 1, image: nginx}`,
	},
	"empty image": {
		message: "spec.image in body should be at least 1 chars long",
		bad:     `{image: ""}`,
		good:    `{image: a}`,
	},
	"negative replicas": {
		message: "spec.replicas in body should be greater than or equal to 0",
		bad:     `{image: nginx, replicas: -1}`,
		good:    `{image: nginx, replicas: 0}`,
	},
	"rollingUpdate 0": {
		message: ratioMessage,
		bad:     `{image: nginx, rollingUpdate: 0}`,
		good:    `{image: nginx, rollingUpdate: 1}`,
	},
	"rollingUpdate 0 as a string": {
		message: ratioMessage,
		bad:     `{image: nginx, rollingUpdate: "0"}`,
		good:    `{image: nginx, rollingUpdate: "1"}`,
	},
	"rollingUpdate 0%": {
		message: ratioMessage,
		bad:     `{image: nginx, rollingUpdate: 0%}`,
		good:    `{image: nginx, rollingUpdate: 1%}`,
	},
	"rollingUpdate above 100%": {
		message: ratioMessage,
		bad:     `{image: nginx, rollingUpdate: 101%}`,
		good:    `{image: nginx, rollingUpdate: 100%}`,
	},
	"rollingUpdate below 0": {
		message: ratioMessage,
		bad:     `{image: nginx, rollingUpdate: -1}`,
		good:    `{image: nginx, rollingUpdate: 999999999}`,
	},
	"rollingUpdate that is no number": {
		message: ratioMessage,
		bad:     `{image: nginx, rollingUpdate: some}`,
		good:    `{image: nginx, rollingUpdate: 30%}`,
	},
	"rollingUpdate of a fraction": {
		message: `spec.rollingUpdate: Invalid value: "number"`,
		bad:     `{image: nginx, rollingUpdate: 1.5}`,
		good:    `{image: nginx, rollingUpdate: null}`,
	},
	"long rollingUpdate": {
		message: "spec.rollingUpdate: Too long: may not be more than 10 bytes",
		bad:     `{image: nginx, rollingUpdate: "00000000001"}`,
		good:    `{image: nginx, rollingUpdate: "999999999"}`,
	},
	"port number twice": {
		message: portTwiceMessage,
		bad:     `{image: nginx, ports: [{name: a, port: 80}, {name: b, port: 81}, {name: c, port: 80}]}`,
		good:    `{image: nginx, ports: [{name: a, port: 80}, {name: b, port: 81}, {name: c, port: 82}]}`,
	},
	"port number on two protocols": {
		message: portTwiceMessage,
		bad:     `{image: nginx, ports: [{port: 53}, {port: 53, protocol: UDP}]}`,
		good:    `{image: nginx, ports: [{port: 53}, {port: 54, protocol: UDP}]}`,
	},
	"node port twice": {
		message: "a nodePort stands twice: write another number, or leave one out to have it chosen",
		bad:     `{image: nginx, ports: [{port: 80, nodePort: 30080}, {port: 81}, {port: 82, nodePort: 30080}]}`,
		good:    `{image: nginx, ports: [{port: 80, nodePort: 30080}, {port: 81}, {port: 82, nodePort: 30081}]}`,
	},
	"port name twice": {
		message: "a port name stands twice: rename one, or leave the name out to have it filled in",
		bad:     `{image: nginx, ports: [{port: 80, name: http}, {port: 81}, {port: 82, name: http}]}`,
		good:    `{image: nginx, ports: [{port: 80, name: http}, {port: 81}, {port: 82, name: http-2}]}`,
	},
	"port name in capitals": {
		message: portNameMessage,
		bad:     `{image: nginx, ports: [{port: 80, name: HTTP}]}`,
		good:    `{image: nginx, ports: [{port: 80, name: http-1}]}`,
	},
	"port name that ends with a hyphen": {
		message: portNameMessage,
		bad:     `{image: nginx, ports: [{port: 80, name: http-}]}`,
		good:    `{image: nginx, ports: [{port: 80, name: "1"}]}`,
	},
	"long port name": {
		message: "spec.ports[0].name: Too long: may not be more than 63 bytes",
		bad:     `{image: nginx, ports: [{port: 80, name: "a123456789012345678901234567890123456789012345678901234567890123"}]}`,
		good:    `{image: nginx, ports: [{port: 80, name: "a12345678901234567890123456789012345678901234567890123456789012"}]}`,
	},
	"port without a number": {
		message: "spec.ports[0].port: Required value",
		bad:     `{image: nginx, ports: [{name: http}]}`,
		good:    `{image: nginx, ports: [{name: http, port: 80}]}`,
	},
	"port 0": {
		message: "spec.ports[0].port in body should be greater than or equal to 1",
		bad:     `{image: nginx, ports: [{port: 0}]}`,
		good:    `{image: nginx, ports: [{port: 1}]}`,
	},
	"port 65536": {
		message: "spec.ports[0].port in body should be less than or equal to 65535",
		bad:     `{image: nginx, ports: [{port: 65536}]}`,
		good:    `{image: nginx, ports: [{port: 65535}]}`,
	},
	"node port 0": {
		message: "spec.ports[0].nodePort in body should be greater than or equal to 1",
		bad:     `{image: nginx, ports: [{port: 80, nodePort: 0}]}`,
		good:    `{image: nginx, ports: [{port: 80, nodePort: 1}]}`,
	},
	"node port 65536": {
		message: "spec.ports[0].nodePort in body should be less than or equal to 65535",
		bad:     `{image: nginx, ports: [{port: 80, nodePort: 65536}]}`,
		good:    `{image: nginx, ports: [{port: 80, nodePort: 65535}]}`,
	},
	"target port 0": {
		message: targetPortMessage,
		bad:     `{image: nginx, ports: [{port: 80, targetPort: 0}]}`,
		good:    `{image: nginx, ports: [{port: 80, targetPort: 1}]}`,
	},
	"target port 65536": {
		message: targetPortMessage,
		bad:     `{image: nginx, ports: [{port: 80, targetPort: 65536}]}`,
		good:    `{image: nginx, ports: [{port: 80, targetPort: 65535}]}`,
	},
	"target port of digits in quotes": {
		message: targetPortMessage,
		bad:     `{image: nginx, ports: [{port: 80, targetPort: "80"}]}`,
		good:    `{image: nginx, ports: [{port: 80, targetPort: h80}]}`,
	},
	"target port with two hyphens in a row": {
		message: targetPortMessage,
		bad:     `{image: nginx, ports: [{port: 80, targetPort: a--b}]}`,
		good:    `{image: nginx, ports: [{port: 80, targetPort: a-b}]}`,
	},
	"long target port": {
		message: "spec.ports[0].targetPort: Too long: may not be more than 15 bytes",
		bad:     `{image: nginx, ports: [{port: 80, targetPort: a234567890123456}]}`,
		good:    `{image: nginx, ports: [{port: 80, targetPort: a23456789012345}]}`,
	},
	"unknown protocol": {
		message: `spec.ports[0].protocol: Unsupported value: "HTTP": supported values: "TCP", "UDP", "SCTP"`,
		bad:     `{image: nginx, ports: [{port: 80, protocol: HTTP}]}`,
		good:    `{image: nginx, ports: [{port: 80, protocol: SCTP}]}`,
	},
	"unknown service type": {
		message: `spec.serviceType: Unsupported value: "ExternalName": supported values: "ClusterIP", "NodePort", "LoadBalancer", "Headless", "None"`,
		bad:     `{image: nginx, serviceType: ExternalName, ports: [{port: 80}]}`,
		good:    `{image: nginx, serviceType: Headless, ports: [{port: 80}]}`,
	},
	"request above its limit": {
		message: requestMessage,
		bad:     `{image: nginx, resources: {requests: {cpu: 1500m, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}`,
		good:    `{image: nginx, resources: {requests: {cpu: 1000m, memory: 1Gi}, limits: {cpu: 1, memory: 1024Mi}}}`,
	},
	"request of whole devices above its limit": {
		message: requestMessage,
		bad:     `{image: nginx, resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}}`,
		good:    `{image: nginx, resources: {requests: {memory: 2Gi}, limits: {nvidia.com/gpu: 1}}}`,
	},
	"nonsense as a quantity": {
		message: "spec.resources.limits.memory in body should match",
		bad:     `{image: nginx, resources: {limits: {memory: much}}}`,
		good:    `{image: nginx, resources: {limits: {memory: 1.5G}}}`,
	},
	"misspelt field": {
		message: `unknown field "spec.replica"`,
		bad:     `{image: nginx, replica: 2}`,
		good:    `{image: nginx, replicas: 2}`,
	},
}
