package crds

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

// aboutContainers is what is asked of containers.
var aboutContainers = map[reflect.Type]asked{
	reflect.TypeFor[corev1.Container](): {
		fields: map[string]keywords{
			"name":                     {"maxLength": int64(63)},
			"image":                    matching(trimmedPattern + `|^$`), // a rule asks for one
			"imagePullPolicy":          oneOf("Always", "IfNotPresent", "Never"),
			"terminationMessagePolicy": oneOf("File", "FallbackToLogsOnError"),
			"restartPolicy":            oneOf("Always", "OnFailure", "Never"),
			"restartPolicyRules":       {"maxItems": int64(20)},
			"volumeMounts":             {"maxItems": mostTerms},
			"resizePolicy":             {"maxItems": int64(2)}, // of cpu and of memory
			"volumeDevices":            {"maxItems": int64(16)},
			"ports":                    {"maxItems": int64(100)},
		},
		rules: []rule{
			{"self.name.matches('" + labelPattern + "')",
				"the name of a container must consist of at most 63 lower-case letters, digits and hyphens, and begin and end with a letter or digit"},
			{"has(self.image) && self.image != ''", "a container needs an image: set image"},
			{"!has(self.livenessProbe) || !has(self.livenessProbe.successThreshold) || self.livenessProbe.successThreshold <= 1",
				"the successThreshold of a liveness probe must be 1: set it to 1, or remove it"},
			{"!has(self.startupProbe) || !has(self.startupProbe.successThreshold) || self.startupProbe.successThreshold <= 1",
				"the successThreshold of a startup probe must be 1: set it to 1, or remove it"},
			{"!has(self.readinessProbe) || !has(self.readinessProbe.terminationGracePeriodSeconds)",
				"a readiness probe cannot have terminationGracePeriodSeconds: remove it"},
			{"!has(self.restartPolicyRules) || size(self.restartPolicyRules) == 0 || has(self.restartPolicy)",
				"restartPolicyRules need restartPolicy: set restartPolicy too"},
			{"!has(self.resizePolicy) || size(self.resizePolicy) < 2 || self.resizePolicy[0].resourceName != self.resizePolicy[1].resourceName",
				"resizePolicy has the same resource twice: remove one of them"},
			{"!has(self.ports) || [self.ports.filter(p, has(p.name) && p.name != '').map(p, p.name)].all(names, names.all(n, names.exists_one(m, m == n)))",
				"two ports of a container have the same name: rename one of them"},
			{"!has(self.volumeDevices) || [self.volumeDevices.map(d, d.name)].all(names, names.all(n, names.exists_one(m, m == n)))",
				"volumeDevices has the same name twice: remove one of them"},
			{"!has(self.volumeDevices) || !has(self.volumeMounts) || size(self.volumeDevices) == 0 || " +
				"[self.volumeDevices.map(d, d.name)].all(names, !self.volumeMounts.exists(m, m.name in names))",
				"a volume is both in volumeDevices and in volumeMounts: remove it from one of them"},
			{"!has(self.volumeMounts) || (has(self.securityContext) && has(self.securityContext.privileged) && self.securityContext.privileged) || " +
				"self.volumeMounts.all(m, !has(m.mountPropagation) || m.mountPropagation != 'Bidirectional')",
				"mountPropagation Bidirectional needs securityContext.privileged true: set that, or use HostToContainer"},
		},
	},
	reflect.TypeFor[corev1.ContainerRestartRule](): {
		fields: map[string]keywords{"action": oneOf("Restart", "RestartAllContainers")},
		rules:  []rule{{"has(self.exitCodes)", "a restart rule needs exitCodes: set exitCodes"}},
	},
	reflect.TypeFor[corev1.ContainerRestartRuleOnExitCodes](): {fields: map[string]keywords{
		"operator": oneOf("In", "NotIn"), "values": {"maxItems": int64(255)}, "values[]": between(0, 255),
	}},
	reflect.TypeFor[corev1.ContainerResizePolicy](): {fields: map[string]keywords{
		"resourceName": oneOf("cpu", "memory"), "restartPolicy": oneOf("NotRequired", "RestartContainer"),
	}},
	reflect.TypeFor[corev1.ContainerPort](): {fields: map[string]keywords{
		"containerPort": between(1, 65535), "hostPort": between(0, 65535),
		"protocol": oneOf("TCP", "UDP", "SCTP"),
		"name":     {"maxLength": int64(15), "pattern": portPattern + "|^$"},
		// The API server does not look at it.
		"hostIP": {"maxLength": int64(45), "pattern": "^(" + ipv4 + `|[0-9a-f]*:[0-9a-f:]*:[0-9a-f.]*)?$`},
	}},
	reflect.TypeFor[corev1.Probe](): {
		fields: map[string]keywords{
			"initialDelaySeconds": atLeast(0), "timeoutSeconds": atLeast(0), "periodSeconds": atLeast(0),
			"successThreshold": atLeast(0), "failureThreshold": atLeast(0), "terminationGracePeriodSeconds": atLeast(1),
		},
		rules: []rule{{"[has(self.exec), has(self.httpGet), has(self.tcpSocket), has(self.grpc)].exists_one(h, h)",
			"a probe needs exactly one of exec, httpGet, tcpSocket and grpc"}},
	},
	reflect.TypeFor[corev1.LifecycleHandler](): {rules: []rule{
		{"[has(self.exec), has(self.httpGet), has(self.tcpSocket), has(self.sleep)].exists_one(h, h)",
			"a lifecycle handler needs exactly one of exec, httpGet, sleep and tcpSocket"},
	}},
	reflect.TypeFor[corev1.SleepAction](): {fields: map[string]keywords{"seconds": atLeast(0)}},
	reflect.TypeFor[corev1.ExecAction](): {
		fields: map[string]keywords{"command": {"minItems": int64(1)}},
		rules:  []rule{{"has(self.command)", "exec needs a command: set exec.command"}},
	},
	reflect.TypeFor[corev1.GRPCAction]():    {fields: map[string]keywords{"port": between(1, 65535)}},
	reflect.TypeFor[corev1.HTTPGetAction](): {fields: map[string]keywords{"scheme": oneOf("HTTP", "HTTPS"), "port": portNumberOrName, "httpHeaders": onceBy("name")}},
	reflect.TypeFor[corev1.HTTPHeader]():    {fields: map[string]keywords{"name": matching(`^[-A-Za-z0-9]+$`)}},
	reflect.TypeFor[corev1.TCPSocketAction](): {
		fields: map[string]keywords{"port": portNumberOrName},
	},
	reflect.TypeFor[corev1.ResourceRequirements](): {
		fields: map[string]keywords{
			"limits": {"maxProperties": mostResources}, "requests": {"maxProperties": mostResources},
			// Where a Pod has resourceClaims, they are written there.
			"claims": {"maxItems": int64(0)},
		},
		rules: resourceRules,
	},
	reflect.TypeFor[corev1.ResourceClaim](): {fields: map[string]keywords{"name": label, "request": labelOrNone}},
	reflect.TypeFor[corev1.SecurityContext](): {
		fields: map[string]keywords{
			"runAsUser": between(0, mostID), "runAsGroup": between(0, mostID), "procMount": oneOf("Default", "Unmasked"),
			"capabilities.add[]": {"maxLength": int64(64)},
		},
		rules: []rule{{"!has(self.allowPrivilegeEscalation) || self.allowPrivilegeEscalation || " +
			"!((has(self.privileged) && self.privileged) || (has(self.capabilities) && has(self.capabilities.add) && 'CAP_SYS_ADMIN' in self.capabilities.add))",
			"allowPrivilegeEscalation cannot be false for a container that is privileged or has CAP_SYS_ADMIN: remove it"}},
	},
	reflect.TypeFor[corev1.WindowsSecurityContextOptions](): {fields: map[string]keywords{
		"gmsaCredentialSpecName": subdomain,
		"gmsaCredentialSpec":     {"minLength": int64(1), "maxLength": int64(64 << 10)},
		// The API server counts bytes, of which a character has at most four.
		"runAsUserName": {"maxLength": int64(361), "pattern": `^(([ -\[\]-~]{1,255}|[^\\[:cntrl:]]{1,63})\\)?([ !#-)\-.0-9A-Z^-{}~]{1,104}|[^\\"/\[\]:;|=,+*?<>@[:cntrl:]]{1,26})$`},
	}},
	reflect.TypeFor[corev1.SeccompProfile]():  profile("RuntimeDefault", "Unconfined", "Localhost"),
	reflect.TypeFor[corev1.AppArmorProfile](): profile("RuntimeDefault", "Unconfined", "Localhost"),
}

// trimmedPattern is that of a line without a space of any kind around it.
const trimmedPattern = `^[^\s\v\pZ]([^\n]*[^\s\v\pZ])?$`

// profile is what is asked of a profile of the kernel.
func profile(types ...any) asked {
	return asked{
		fields: map[string]keywords{"type": oneOf(types...), "localhostProfile": {"maxLength": int64(4095), "pattern": `^[^/\s\v\pZ]([^\n]*[^\s\v\pZ])?$|^$`}},
		rules: []rule{
			{"self.type == 'Localhost' ? has(self.localhostProfile) && self.localhostProfile != '' : !has(self.localhostProfile)",
				"localhostProfile and type Localhost require each other: set both, or neither"},
			{"!has(self.localhostProfile) || !self.localhostProfile.contains('..')", "localhostProfile is a path below the kubelet's folder of profiles and cannot contain ..: remove it"},
		},
	}
}

// portNumberOrName holds the number of a port to what a port can be, and its name
// to what a container's port can be named.
var portNumberOrName = keywords{"minimum": int64(1), "maximum": int64(65535), "maxLength": int64(15), "pattern": portPattern}

// resourceRules are about requests and limits. Of what is no number or share of
// time, such as a device or a huge page, a container gets all that it asks for.
var resourceRules = []rule{
	{"(!has(self.requests) || self.requests.all(r, " + isShared + " || " + isDevice + ")) && (!has(self.limits) || self.limits.all(r, " + isShared + " || " + isKnownDevice + "))",
		"unknown resource: use cpu, memory, ephemeral-storage, a size of huge pages such as hugepages-2Mi, or a device with its domain, such as nvidia.com/gpu"},
	{"!has(self.requests) || self.requests.all(r, !" + isDevice + " || (has(self.limits) && r in self.limits))",
		"a device such as nvidia.com/gpu in requests must also be in limits: add it there, or move it there"},
	{"!has(self.requests) || !has(self.limits) || self.requests.all(r, !(r in self.limits) || " + isDevice + " || " + isSlow + " || " +
		"quantity(string(self.requests[r])).compareTo(quantity(string(self.limits[r]))) <= 0)",
		"a request is higher than its limit: lower the request, or raise the limit"},
	{"!has(self.requests) || !has(self.limits) || self.requests.all(r, !(r in self.limits) || !" + isDevice + " || " + isSlow + " || " +
		"quantity(string(self.requests[r])).compareTo(quantity(string(self.limits[r]))) == 0)",
		"requests and limits of a device such as nvidia.com/gpu must be equal: use the same number, or remove it from requests"},
	{"!has(self.limits) || self.limits.all(r, !" + isDevice + " || " + isWhole + ")",
		"the limit of a device such as nvidia.com/gpu or of huge pages must be a whole number: write 1, or 1536Mi instead of 1.5Gi"},
	{"!has(self.limits) || self.limits.all(r, !(r in " + hugePages + ") || !" + isWhole + " || " +
		"quantity(string(self.limits[r])).asInteger() % quantity(r.substring(10)).asInteger() == 0)",
		"the limit of huge pages must be a multiple of their size: write 4Mi instead of 3Mi for hugepages-2Mi"},
	{"!has(self.limits) || 'cpu' in self.limits || 'memory' in self.limits || !self.limits.exists(r, r.startsWith('hugepages-')) || " +
		"(has(self.requests) && ('cpu' in self.requests || 'memory' in self.requests))",
		"huge pages need cpu or memory: add a limit of memory"},
}

// isWhole is true of a limit that is a whole number which CEL reads as an integer, at once.
const isWhole = "string(self.limits[r]).matches('^[+]?([0-9]{1,15}|[0-9]{1,9}(k|M|G|Ki)|[0-9]{1,6}T|[0-9]{1,8}Mi|[0-9]{1,5}Gi|[0-9]{1,2}Ti)$')"

// hugePages are the sizes that the architectures of Linux have. Of another size the API
// server could say much, and a rule that reads the name would cost too much.
const hugePages = "['hugepages-64Ki', 'hugepages-1Mi', 'hugepages-2Mi', 'hugepages-4Mi', 'hugepages-8Mi', 'hugepages-16Mi', 'hugepages-32Mi', " +
	"'hugepages-256Mi', 'hugepages-512Mi', 'hugepages-1Gi', 'hugepages-2Gi', 'hugepages-16Gi']"

// isSlow is true of a request or limit with an exponent of three digits. The pattern
// refuses it, but the API server runs the rules all the same, and would take minutes to
// read it.
const isSlow = "(string(self.requests[r]) + ' ' + string(self.limits[r])).matches('[eE][+-]?[0-9]{3}')"

// isShared is true of what a container gets a share of.
const isShared = "r in ['cpu', 'memory', 'ephemeral-storage']"

// isDevice is true of what is no number or share of time. Each request is compared
// once: reading a quantity is the dearest part of these rules.
const isDevice = "(r.contains('/') || r.startsWith('hugepages-'))"

// isKnownDevice is true of those that the API server takes, and of a few with wrong
// characters. What is requested of them is also a limit.
const isKnownDevice = "(r.contains('/') && !r.startsWith('requests.') && size(r) <= 244) || r in " + hugePages
