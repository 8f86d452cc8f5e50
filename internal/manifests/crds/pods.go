package crds

import (
	"maps"
	"math"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// keywords are keywords of a schema.
type keywords map[string]any

// asked is what is asked of a type.
type asked struct {
	fields map[string]keywords // by their names
	rules  []rule
}

// rule is a validation rule in CEL.
type rule struct{ says, message string }

// constrain writes into the schema of a type of Kubernetes, and all below it,
// what the API server asks of Pods when they are created, as far as a schema can
// say it: what is admitted in a template or a container is to make a Pod.
func constrain(schema map[string]any, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if items := member(schema, "items"); items != nil {
			constrain(items, t.Elem())
		}
	case reflect.Map:
		if values := member(schema, "additionalProperties"); values != nil {
			constrain(values, t.Elem())
		}
	case reflect.Struct:
		constrainStruct(schema, t)
	default: // has nothing below
	}
}

func constrainStruct(schema map[string]any, t reflect.Type) {
	properties := member(schema, "properties")
	if properties == nil {
		return
	}
	constrainFields(properties, t)
	if t == reflect.TypeFor[corev1.ResourceRequirements]() {
		for _, name := range []string{"limits", "requests"} {
			refuseNegative(member(member(properties, name), "additionalProperties"))
		}
	}
	wanted := podValidation[t]
	for name, words := range wanted.fields {
		if field := member(properties, name); field != nil {
			maps.Copy(field, words)
		}
	}
	for _, rule := range wanted.rules {
		before, _ := schema["x-kubernetes-validations"].([]any)
		schema["x-kubernetes-validations"] = append(before, map[string]any{"rule": rule.says, "message": rule.message})
	}
}

// constrainFields goes on below the fields of a type, those of what it embeds
// included.
func constrainFields(properties map[string]any, t reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch inner := member(properties, name); {
		case name == "" && field.Anonymous:
			constrainFields(properties, field.Type)
		case inner != nil && field.Type != reflect.TypeFor[[]corev1.EphemeralContainer](): // which are refused
			constrain(inner, field.Type)
		}
	}
}

// refuseNegative takes the sign out of the pattern of a quantity.
func refuseNegative(quantity map[string]any) {
	if quantity == nil {
		return
	}
	quantity["maxLength"] = 64
	quantity["minimum"] = int64(0)
	if pattern, ok := quantity["pattern"].(string); ok {
		quantity["pattern"] = strings.Replace(pattern, `^(\+|-)?`, `^\+?`, 1)
	}
}

func oneOf(values ...any) keywords { return keywords{"enum": values} }

func between(least, most int64) keywords { return keywords{"minimum": least, "maximum": most} }

func atLeast(least int64) keywords { return keywords{"minimum": least} }

func matching(pattern string) keywords { return keywords{"pattern": pattern} }

// mostResources is how many kinds of resources a container may ask for: a rule is
// reckoned to compare all of them.
const mostResources = 16

const mostID = math.MaxInt32 // of users and groups

// podValidation is, by type, what ValidatePod of Kubernetes' pkg/apis/core/validation
// asks. What compares parts of a Pod that are far apart is left out: the cost of
// such a rule, as the API server reckons it, is above what it allows.
var podValidation = map[reflect.Type]asked{
	reflect.TypeFor[corev1.PodSpec](): {
		fields: map[string]keywords{
			"activeDeadlineSeconds":         between(1, math.MaxInt32),
			"terminationGracePeriodSeconds": atLeast(0),
			"restartPolicy":                 oneOf("Always", "OnFailure", "Never"),
			"dnsPolicy":                     oneOf("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
			"preemptionPolicy":              oneOf("PreemptLowerPriority", "Never"),
			"hostname":                      {"maxLength": 63, "pattern": labelPattern + "|^$"},
			"subdomain":                     {"maxLength": 63, "pattern": labelPattern + "|^$"},
			"serviceAccountName":            {"maxLength": 253, "pattern": `^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$|^$`},
		},
		rules: []rule{{"!has(self.ephemeralContainers) || size(self.ephemeralContainers) == 0",
			"ephemeralContainers cannot be created with a Pod: leave them out"}},
	},
	reflect.TypeFor[corev1.PodOS](): {fields: map[string]keywords{"name": oneOf("linux", "windows")}},
	reflect.TypeFor[corev1.Container](): {
		fields: map[string]keywords{
			"name":                     {"maxLength": 63},
			"image":                    matching(`^\S(.*\S)?$|^$`),
			"imagePullPolicy":          oneOf("Always", "IfNotPresent", "Never"),
			"terminationMessagePolicy": oneOf("File", "FallbackToLogsOnError"),
			"restartPolicy":            oneOf("Always", "OnFailure", "Never"),
		},
		rules: []rule{
			{"self.name.matches('" + labelPattern + "')",
				"the name of a container has at most 63 lower-case letters, digits and hyphens, and begins and ends with a letter or digit"},
			{"has(self.image) && self.image != ''", "a container has no image: write the image that it shall run"},
			{"!has(self.livenessProbe) || !has(self.livenessProbe.successThreshold) || self.livenessProbe.successThreshold <= 1",
				"a liveness probe succeeds with the first success: write successThreshold 1, or leave it out"},
			{"!has(self.startupProbe) || !has(self.startupProbe.successThreshold) || self.startupProbe.successThreshold <= 1",
				"a startup probe succeeds with the first success: write successThreshold 1, or leave it out"},
			{"!has(self.readinessProbe) || !has(self.readinessProbe.terminationGracePeriodSeconds)",
				"a readiness probe ends no container: leave its terminationGracePeriodSeconds out"},
		},
	},
	reflect.TypeFor[corev1.ContainerPort](): {fields: map[string]keywords{
		"containerPort": between(1, 65535), "hostPort": between(0, 65535),
		"protocol": oneOf("TCP", "UDP", "SCTP"),
		"name":     {"maxLength": 15, "pattern": `^([a-z0-9]+-)*[a-z0-9]+$|^$`},
	}},
	reflect.TypeFor[corev1.Probe](): {
		fields: map[string]keywords{
			"initialDelaySeconds": atLeast(0), "timeoutSeconds": atLeast(0), "periodSeconds": atLeast(0),
			"successThreshold": atLeast(0), "failureThreshold": atLeast(0), "terminationGracePeriodSeconds": atLeast(1),
		},
		rules: []rule{{"[has(self.exec), has(self.httpGet), has(self.tcpSocket), has(self.grpc)].exists_one(h, h)",
			"a probe does one thing: write one of exec, httpGet, tcpSocket and grpc"}},
	},
	reflect.TypeFor[corev1.ExecAction]():    {fields: map[string]keywords{"command": {"minItems": int64(1)}}},
	reflect.TypeFor[corev1.GRPCAction]():    {fields: map[string]keywords{"port": between(1, 65535)}},
	reflect.TypeFor[corev1.HTTPGetAction](): {fields: map[string]keywords{"scheme": oneOf("HTTP", "HTTPS"), "port": portNumberOrName}},
	reflect.TypeFor[corev1.TCPSocketAction](): {
		fields: map[string]keywords{"port": portNumberOrName},
	},
	reflect.TypeFor[corev1.EnvVar](): {
		fields: map[string]keywords{"name": matching(`^[ -<>-~]+$`), "valueFrom": {"maxProperties": int64(1)}},
		rules: []rule{{"!has(self.valueFrom) || !has(self.value) || self.value == ''",
			"a variable has a value and a valueFrom: write one of them"}},
	},
	reflect.TypeFor[corev1.VolumeMount](): {fields: map[string]keywords{
		"name":             {"maxLength": 63},
		"mountPath":        matching(`^[^:]+$`),
		"mountPropagation": oneOf("None", "HostToContainer", "Bidirectional"),
		"subPath":          matching(`^([^/].*)?$`),
	}},
	reflect.TypeFor[corev1.Volume](): {fields: map[string]keywords{
		"name": {"maxLength": 63, "pattern": labelPattern},
	}},
	reflect.TypeFor[corev1.ResourceRequirements](): {
		fields: map[string]keywords{"limits": {"maxProperties": mostResources}, "requests": {"maxProperties": mostResources}},
		rules:  resourceRules,
	},
	reflect.TypeFor[corev1.SecurityContext](): {fields: map[string]keywords{"runAsUser": between(0, mostID), "runAsGroup": between(0, mostID)}},
	reflect.TypeFor[corev1.PodSecurityContext](): {fields: map[string]keywords{
		"runAsUser": between(0, mostID), "runAsGroup": between(0, mostID), "fsGroup": between(0, mostID),
		"fsGroupChangePolicy": oneOf("OnRootMismatch", "Always"),
	}},
	reflect.TypeFor[corev1.SeccompProfile](): {
		fields: map[string]keywords{"type": oneOf("RuntimeDefault", "Unconfined", "Localhost")},
		rules: []rule{{"(self.type == 'Localhost') == (has(self.localhostProfile) && self.localhostProfile != '')",
			"localhostProfile goes with type Localhost, and only with it"}},
	},
	reflect.TypeFor[corev1.Toleration](): {fields: map[string]keywords{
		"effect": oneOf("NoSchedule", "PreferNoSchedule", "NoExecute"),
	}},
	reflect.TypeFor[corev1.HostAlias](): {fields: map[string]keywords{"ip": {"minLength": int64(1)}}},
}

const labelPattern = `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`

// portNumberOrName holds the number of a port to what a port can be, and its name
// to what a container's port can be named.
var portNumberOrName = keywords{"minimum": int64(1), "maximum": int64(65535), "pattern": `^([a-z0-9]+-)*[a-z0-9]+$`}

// resourceRules are about requests and limits. Of what is no number or share of
// time, such as a device or a huge page, a container gets all that it asks for.
var resourceRules = []rule{
	{"(!has(self.requests) || self.requests.all(r, " + isResource + ")) && (!has(self.limits) || self.limits.all(r, " + isResource + "))",
		"write cpu, memory, ephemeral-storage, hugepages-<size>, or a device with its domain, such as nvidia.com/gpu"},
	{"!has(self.requests) || self.requests.all(r, !(r.contains('/') || r.startsWith('hugepages-')) || (has(self.limits) && r in self.limits))",
		"a device such as nvidia.com/gpu needs a limit: write it in limits, which alone is enough"},
	{"!has(self.requests) || !has(self.limits) || self.requests.all(r, !(r in self.limits) || quantity(string(self.requests[r])).compareTo(quantity(string(self.limits[r]))) <= 0)",
		"a request is higher than its limit: lower the request, or raise the limit"},
	{"!has(self.requests) || !has(self.limits) || self.requests.all(r, !(r in self.limits) || !(r.contains('/') || r.startsWith('hugepages-')) || " +
		"quantity(string(self.requests[r])).compareTo(quantity(string(self.limits[r]))) >= 0)",
		"a device such as nvidia.com/gpu is not shared: write the same number in requests and limits, or leave it out of requests"},
}

const isResource = "r in ['cpu', 'memory', 'ephemeral-storage'] || r.startsWith('hugepages-') || r.contains('/')"
