package crds

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

// constrainList adds what is asked of a list as a whole.
func constrainList(schema map[string]any, item reflect.Type) {
	switch item {
	case reflect.TypeFor[corev1.EnvVar]():
		// Whether their volumes are there is left to the API server, which quotes each that is
		// not: a rule about that would cost too much.
		addRule(schema, rule{"self.filter(e, has(e.valueFrom) && has(e.valueFrom.fileKeyRef)).size() <= 8",
			"at most 8 variables of a container can have a fileKeyRef: remove some"})
	case reflect.TypeFor[corev1.TopologySpreadConstraint]():
		addRule(schema, fewSpread)
	case reflect.TypeFor[corev1.Volume]():
		addRule(schema, fewDisks)
	case reflect.TypeFor[corev1.Container]():
		addRule(schema, fewHostPorts)
		addRule(schema, fewAmounts)
	}
}

// aboutVariables is what is asked of environment variables.
var aboutVariables = map[reflect.Type]asked{
	reflect.TypeFor[corev1.EnvVar](): {
		fields: map[string]keywords{"name": matching(`^[ -<>-~]+$`), "valueFrom": {"minProperties": int64(1), "maxProperties": int64(1)}},
		rules: []rule{{"!has(self.valueFrom) || !has(self.value) || self.value == ''",
			"an environment variable cannot have both value and valueFrom: remove one of them"}},
	},
	reflect.TypeFor[corev1.EnvVarSource](): {
		fields: map[string]keywords{
			"fieldRef.fieldPath": {"maxLength": int64(340), "pattern": `^(metadata\.(name|namespace|uid|(labels|annotations)\['` + qualifiedKey + `'\])|spec\.(nodeName|serviceAccountName)|status\.(hostIPs?|podIPs?))$`},
		},
		// Those of files in a volume are left to the API server: they are too many for a rule.
		rules: []rule{{"!has(self.resourceFieldRef) || !has(self.resourceFieldRef.divisor) || string(self.resourceFieldRef.divisor) in ['0', '1'] || " +
			"self.resourceFieldRef.resource.endsWith('.cpu') == (string(self.resourceFieldRef.divisor) == '1m')",
			"the divisor of cpu is 1 or 1m, and that of others 1 or a unit such as 1Mi: write one of these"}},
	},
	reflect.TypeFor[corev1.ObjectFieldSelector](): {fields: map[string]keywords{"apiVersion": oneOf("v1")}},
	reflect.TypeFor[corev1.ResourceFieldSelector](): {
		fields: map[string]keywords{
			"resource": {"maxLength": int64(100), "pattern": `^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-[0-9]+[KMG]i)$`},
			"divisor":  {"minimum": int64(0), "maximum": int64(1), "maxLength": int64(3), "pattern": `^(0|1([mkMGTPE]|[KMGTPE]i)?)$`},
		},
	},
	reflect.TypeFor[corev1.EnvFromSource](): {
		fields: map[string]keywords{"prefix": matching(`^[ -<>-~]*$`)},
		rules: []rule{{"has(self.configMapRef) != has(self.secretRef)",
			"envFrom needs exactly one of configMapRef and secretRef"}},
	},
	reflect.TypeFor[corev1.ConfigMapEnvSource](): {fields: map[string]keywords{"name": maybeSubdomain}, rules: []rule{namesAnObject}},
	reflect.TypeFor[corev1.SecretEnvSource]():    {fields: map[string]keywords{"name": maybeSubdomain}, rules: []rule{namesAnObject}},
	reflect.TypeFor[corev1.ConfigMapKeySelector](): {
		fields: map[string]keywords{"name": maybeSubdomain, "key": keyOfObject}, rules: []rule{namesAnObject},
	},
	reflect.TypeFor[corev1.SecretKeySelector](): {
		fields: map[string]keywords{"name": maybeSubdomain, "key": keyOfObject}, rules: []rule{namesAnObject},
	},
	reflect.TypeFor[corev1.FileKeySelector](): {fields: map[string]keywords{
		"volumeName": label, "key": {"maxLength": int64(253), "pattern": `^[ -<>-~]+$`}, "path": pathInVolume,
	}},
}
