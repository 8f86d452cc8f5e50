package crds

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// aboutPods is what is asked of what concerns a whole Pod.
var aboutPods = map[reflect.Type]asked{
	reflect.TypeFor[metav1.ObjectMeta](): {fields: map[string]keywords{"labels{}": labelValue}},
	reflect.TypeFor[corev1.PodSpec](): {
		fields: map[string]keywords{
			"activeDeadlineSeconds":         between(1, math.MaxInt32),
			"terminationGracePeriodSeconds": atLeast(0),
			"restartPolicy":                 oneOf("Always", "OnFailure", "Never"),
			"dnsPolicy":                     oneOf("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
			"preemptionPolicy":              oneOf("PreemptLowerPriority", "Never"),
			"hostname":                      labelOrNone,
			"subdomain":                     labelOrNone,
			"serviceAccountName":            maybeSubdomain,
			"serviceAccount":                maybeSubdomain,
			"nodeName":                      maybeSubdomain,
			"priorityClassName":             maybeSubdomain,
			"runtimeClassName":              subdomain,
			"nodeSelector{}":                labelValue,
			"containers":                    {"maxItems": int64(64)},
			"initContainers":                {"maxItems": int64(64)},
			"volumes":                       {"maxItems": int64(64)},
			"topologySpreadConstraints":     {"maxItems": mostTerms},
			"resourceClaims":                {"maxItems": int64(16)},
			"containers[].resources.claims": {"maxItems": int64(16)}, "initContainers[].resources.claims": {"maxItems": int64(16)},
			"hostnameOverride": {"maxLength": int64(64), "pattern": subdomainPattern},
		},
		rules: []rule{
			{"!has(self.ephemeralContainers) || size(self.ephemeralContainers) == 0",
				"ephemeralContainers cannot be created with a Pod: remove them"},
			{"!has(self.initContainers) || self.initContainers.all(c, " + isSidecar + " || " + isPlain + ")",
				"an init container can have probes and a lifecycle only with restartPolicy Always: set that, or remove them"},
			{mounted("containers"), "a container's volumeMounts has a name that is not in volumes: add the volume, or correct the name"},
			{mounted("initContainers"), "an init container's volumeMounts has a name that is not in volumes: add the volume, or correct the name"},
			{withDevices("containers"), "a container's volumeDevices has a name that is not in volumes: add the volume, or correct the name"},
			{withDevices("initContainers"), "an init container's volumeDevices has a name that is not in volumes: add the volume, or correct the name"},
			{fewFileKeys("containers"), "at most 64 variables of the containers can have a fileKeyRef: remove some"},
			{fewFileKeys("initContainers"), "at most 64 variables of the init containers can have a fileKeyRef: remove some"},
			{claimed("containers"), "a container's resources.claims has a name that is not in resourceClaims: add the claim, or correct the name"},
			{claimed("initContainers"), "an init container's resources.claims has a name that is not in resourceClaims: add the claim, or correct the name"},
			{sleepsInTime("containers"), "a container's lifecycle hook sleeps for longer than terminationGracePeriodSeconds (30 by default): lower seconds, or raise terminationGracePeriodSeconds"},
			{sleepsInTime("initContainers"), "an init container's lifecycle hook sleeps for longer than terminationGracePeriodSeconds (30 by default): lower seconds, or raise terminationGracePeriodSeconds"},
			{"!has(self.dnsPolicy) || self.dnsPolicy != 'None' || (has(self.dnsConfig) && has(self.dnsConfig.nameservers) && size(self.dnsConfig.nameservers) > 0)",
				"dnsPolicy None needs dnsConfig.nameservers: set them"},
			{"!has(self.priority) || self.priority == 0 || (has(self.priorityClassName) && self.priorityClassName != '')",
				"priority cannot be set without priorityClassName: set priorityClassName, and remove priority"},
			{"!has(self.preemptionPolicy) || self.preemptionPolicy != 'Never' || (has(self.priorityClassName) && self.priorityClassName != '')",
				"preemptionPolicy Never cannot be set without priorityClassName: set priorityClassName, and remove preemptionPolicy"},
			{"!has(self.overhead) || size(self.overhead) == 0 || has(self.runtimeClassName)",
				"overhead cannot be set without runtimeClassName: set runtimeClassName, and remove overhead"},
			{"!has(self.resources) || (" + ofPods("limits") + " && " + ofPods("requests") + ")",
				"the resources of a Pod are cpu, memory and huge pages: give the others to its containers"},
			{"!(has(self.shareProcessNamespace) && self.shareProcessNamespace && has(self.hostPID) && self.hostPID)",
				"shareProcessNamespace and hostPID cannot both be true: remove one of them"},
			{"!has(self.hostUsers) || self.hostUsers || !(" + isTrue("hostNetwork") + " || " + isTrue("hostPID") + " || " + isTrue("hostIPC") + ")",
				"hostUsers false cannot be set with hostNetwork, hostPID or hostIPC: remove one of them"},
			{"!has(self.hostUsers) || self.hostUsers || !(" + hasDevices("containers") + " || (has(self.initContainers) && " + hasDevices("initContainers") + "))",
				"hostUsers false cannot be set with volumeDevices: remove one of them"},
			{"!has(self.nodeName) || self.nodeName == '' || !has(self.schedulingGates) || size(self.schedulingGates) == 0",
				"nodeName cannot be set with schedulingGates: remove one of them"},
			{"!has(self.hostnameOverride) || !(" + isTrue("hostNetwork") + " || " + isTrue("setHostnameAsFQDN") + ")",
				"hostnameOverride cannot be set with hostNetwork or setHostnameAsFQDN: remove one of them"},
			{"!has(self.initContainers) || [self.containers.map(c, c.name)].all(names, !self.initContainers.exists(c, c.name in names))",
				"an init container has the name of a container: rename one of them"},
		},
	},
	reflect.TypeFor[corev1.PodOS](): {fields: map[string]keywords{"name": oneOf("linux", "windows")}},
	reflect.TypeFor[corev1.LocalObjectReference](): {
		fields: map[string]keywords{"name": maybeSubdomain}, rules: []rule{namesAnObject},
	},
	reflect.TypeFor[corev1.PodSecurityContext](): {fields: map[string]keywords{
		"runAsUser": between(0, mostID), "runAsGroup": between(0, mostID), "fsGroup": between(0, mostID),
		"supplementalGroups[]":     between(0, mostID),
		"sysctls":                  onceBy("name"),
		"fsGroupChangePolicy":      oneOf("OnRootMismatch", "Always"),
		"supplementalGroupsPolicy": oneOf("Merge", "Strict"),
		"seLinuxChangePolicy":      oneOf("Recursive", "MountOption"),
	}},
	reflect.TypeFor[corev1.Sysctl](): {fields: map[string]keywords{
		"name": {"maxLength": int64(253), "pattern": `^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`},
	}},
	reflect.TypeFor[corev1.HostAlias](): {fields: map[string]keywords{"ip": address, "hostnames[]": subdomain}},
	reflect.TypeFor[corev1.PodDNSConfig](): {fields: map[string]keywords{
		"nameservers": {"maxItems": int64(3)}, "nameservers[]": address,
		"searches": {"maxItems": int64(32)}, "searches[]": {"maxLength": int64(253), "pattern": `^\.$|^[a-z0-9_]([-a-z0-9_]*[a-z0-9])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9])?)*\.?$`},
	}},
	reflect.TypeFor[corev1.PodDNSConfigOption](): {rules: []rule{
		{"has(self.name) && self.name != ''", "a DNS option needs a name: set name"},
	}},
	reflect.TypeFor[corev1.PodReadinessGate]():  {fields: map[string]keywords{"conditionType": qualified}},
	reflect.TypeFor[corev1.PodSchedulingGate](): {fields: map[string]keywords{"name": qualified}},
	reflect.TypeFor[corev1.PodResourceClaim](): {
		fields: map[string]keywords{"name": label, "resourceClaimName": subdomain, "resourceClaimTemplateName": subdomain},
		rules: []rule{{"has(self.resourceClaimName) != has(self.resourceClaimTemplateName)",
			"a resource claim needs exactly one of resourceClaimName and resourceClaimTemplateName"}},
	},
}

// address is an IPv4 or IPv6 address.
var address = keywords{"maxLength": int64(45), "pattern": addressPattern}

const ipv4 = `((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(\.(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])){3})`

// addressPattern is that of IPv4 and IPv6 addresses, but for IPv6 ones that begin with a
// group of 0, unless they are short: the API server refuses those that stand for an IPv4
// address, such as ::ffff:1.2.3.4.
var addressPattern = func() string {
	const (
		group   = `[0-9a-fA-F]{1,4}`
		zeros   = `(0{1,4}(:0{1,4}){0,4})?`
		digit   = `[1-9a-fA-F]`
		nonzero = `(0{0,3}` + digit + `|0{0,2}` + digit + `[0-9a-fA-F]|0?` + digit + `[0-9a-fA-F]{2}|` + digit + `[0-9a-fA-F]{3})`
	)
	all := []string{
		ipv4,
		zeros + `::(` + group + `(:` + group + `)?|` + ipv4 + `)?`, `(0{1,4}:){6}(` + group + `:` + group + `|` + ipv4 + `)`,
		nonzero + `(:` + group + `){7}`, nonzero + `(:` + group + `){5}:` + ipv4,
		nonzero + `(:` + group + `){0,6}::`, nonzero + `(:` + group + `){0,4}::` + ipv4,
	}
	for before := range 6 { // groups after the first, and before ::
		all = append(all, fmt.Sprintf(`%s(:%s){%d}:(:%s){1,%d}`, nonzero, group, before, group, 6-before))
		if before < 4 {
			all = append(all, fmt.Sprintf(`%s(:%s){%d}:(:%s){1,%d}:%s`, nonzero, group, before, group, 4-before, ipv4))
		}
	}
	return `^(` + strings.Join(all, "|") + `)$`
}()

// What a rule asks of an init container.
const (
	isSidecar = "(has(c.restartPolicy) && c.restartPolicy == 'Always')"
	isPlain   = "!(has(c.livenessProbe) || has(c.readinessProbe) || has(c.startupProbe) || has(c.lifecycle))"
)

// isTrue says that a field of a Pod is there and true.
func isTrue(field string) string { return "(has(self." + field + ") && self." + field + ")" }

// mounted says that what containers mount is there.
func mounted(containers string) string {
	return "!has(self." + containers + ") || " + withNames("volumes", "self."+containers+".all(c, !has(c.volumeMounts) || "+
		"c.volumeMounts.all(m, m.name in names))")
}

// withDevices says that the devices of containers are there.
func withDevices(containers string) string {
	return "!has(self." + containers + ") || " + withNames("volumes", "self."+containers+".all(c, !has(c.volumeDevices) || "+
		"c.volumeDevices.all(d, d.name in names))")
}

// fewFileKeys says that few variables come from files, see [constrainList].
func fewFileKeys(containers string) string {
	return "!has(self." + containers + ") || self." + containers + ".map(c, has(c.env) ? " +
		"c.env.filter(e, has(e.valueFrom) && has(e.valueFrom.fileKeyRef)).size() : 0).sum() <= 64"
}

// claimed says that the claims of containers are those of the Pod.
func claimed(containers string) string {
	return "!has(self." + containers + ") || " + withNames("resourceClaims", "self."+containers+".all(c, !has(c.resources) || !has(c.resources.claims) || "+
		"c.resources.claims.all(m, m.name in names))")
}

// withNames is a rule with the names of a list in the variable names. Each entry that a
// rule looks at is made a CEL object first, which takes longer the more fields its
// type has, and which CEL's budget does not count: a rule that looked through the list
// for each entry of another one would keep an API server busy for seconds.
func withNames(list, rule string) string {
	return "[has(self." + list + ") ? self." + list + ".map(n, n.name) : []].all(names, " + rule + ")"
}

// sleepsInTime says that the handlers of containers sleep no longer than a Pod has to
// end.
func sleepsInTime(containers string) string {
	const most = "(has(self.terminationGracePeriodSeconds) ? self.terminationGracePeriodSeconds : 30)"
	sleeps := func(handler string) string {
		return "(!has(" + handler + ") || !has(" + handler + ".sleep) || " + handler + ".sleep.seconds <= " + most + ")"
	}
	return "!has(self." + containers + ") || self." + containers + ".all(c, !has(c.lifecycle) || " +
		"(" + sleeps("c.lifecycle.postStart") + " && " + sleeps("c.lifecycle.preStop") + "))"
}

// ofPods asks that the limits or requests of a Pod as a whole are of resources that may stand there:
// https://github.com/kubernetes/component-helpers/blob/v0.36.3/resource/helpers.go
func ofPods(field string) string {
	return "(!has(self.resources." + field + ") || self.resources." + field + ".all(r, r in ['cpu', 'memory'] || r.startsWith('hugepages-')))"
}

// hasDevices says that a container of a list has volumeDevices.
func hasDevices(list string) string {
	return "self." + list + ".exists(c, has(c.volumeDevices) && size(c.volumeDevices) > 0)"
}
