package crds

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bound adds maximal lengths of strings to the schema of a Kubernetes type,
// whose Go type has none. The API server estimates the cost of a CEL rule from
// the schema, and refuses rules that compare many names without a maximal
// length.
func bound(schema map[string]any, t reflect.Type) {
	const label = 63 // what Kubernetes accepts for these names anyway
	switch t {
	case reflect.TypeFor[corev1.Container](), reflect.TypeFor[corev1.Volume](), reflect.TypeFor[corev1.VolumeMount]():
		if name := member(member(schema, "properties"), "name"); name != nil {
			name["maxLength"] = label
		}
	case reflect.TypeFor[resource.Quantity]():
		schema["maxLength"] = int64(longestQuantity)
	case reflect.TypeFor[metav1.LabelSelector]():
		boundSelector(member(member(schema, "properties"), "matchExpressions"))
	}
}

// boundSelector adds limits for the requirements of a selector and their
// values.
func boundSelector(expressions map[string]any) {
	const (
		most     = 64
		label    = 63
		key      = 253 + 1 + label // with its prefix
		operator = 12              // DoesNotExist
	)
	if expressions == nil {
		return
	}
	expressions["maxItems"] = most
	fields := member(member(expressions, "items"), "properties")
	for name, length := range map[string]int{"key": key, "operator": operator} {
		if field := member(fields, name); field != nil {
			field["maxLength"] = length
		}
	}
	if values := member(fields, "values"); values != nil {
		values["maxItems"] = most
		if value := member(values, "items"); value != nil {
			value["maxLength"] = label
		}
	}
}

// Default limits for lists and maps of a spec. Each entry costs the API server,
// and every hook, some microseconds of validation, and may be quoted when it refuses a child.
const (
	mostEntries = 1000
	fewEntries  = 64
)

// Default limits for texts.
const (
	longestText = 1024
	longestKey  = 317 // that of labels and annotations, with a prefix
	// longestQuantity is what the sync hook admits, far more than any number with its unit takes.
	longestQuantity = 64
)

// manyEntries are the lists and maps that may have [mostEntries]: what long programs have,
// and files.
var manyEntries = map[string]bool{"args": true, "command": true, "env": true, "envs": true, "items": true, "config": true}

// boundEntries adds the default limits to each list and map of a schema without
// one.
func boundEntries(schema map[string]any, name string) {
	if schema["type"] == "array" && schema["maxItems"] == nil {
		schema["maxItems"] = entriesOf(name)
	}
	if member(schema, "additionalProperties") != nil && schema["maxProperties"] == nil {
		schema["maxProperties"] = entriesOf(name)
		if name == "nodeSelector" {
			maps.Copy(member(schema, "additionalProperties"), labelValue)
		}
	}
	belowByName(schema, name, boundEntries)
}

// belowByName calls visit with the schema of each field of an object, of each item of a list and of
// each value of a map, and the name of the field that it belongs to.
func belowByName(schema map[string]any, name string, visit func(schema map[string]any, name string)) {
	for _, keyword := range []string{"items", "additionalProperties"} {
		if inner := member(schema, keyword); inner != nil {
			visit(inner, name)
		}
	}
	for field := range member(schema, "properties") {
		visit(member(member(schema, "properties"), field), field)
	}
}

// isText reports whether a text is a value of a schema.
func isText(schema map[string]any) bool {
	return schema["type"] == "string" || schema["x-kubernetes-int-or-string"] == true
}

// freeTexts are the fields whose text the API server does not validate, and so does not
// quote: what runs in containers, and the values of HTTP headers, of environment variables
// and of annotations, but for those of [annotationRules].
var freeTexts = map[string]bool{"args": true, "command": true, "value": true, "env": true, "annotations": true, "podAnnotations": true}

// boundTexts adds a maximal length to each string of a schema without one. The API server
// quotes what it refuses, with up to four bytes for one, and Metacontroller keeps that as
// an event: a name of 200 KB would take it megabytes at each try.
func boundTexts(schema map[string]any, name string) {
	if isText(schema) && schema["maxLength"] == nil && schema["enum"] == nil && !freeTexts[name] {
		schema["maxLength"] = int64(longestText)
	}
	belowByName(schema, name, boundTexts)
}

// notKeptByYAML are the characters that YAML does not keep, in which Metacontroller sends
// children under server-side apply: U+0085 arrives as a space or, of two, as a newline, and the
// others may not stand there.
const notKeptByYAML = `\x7f-\x{9f}\x{fffe}\x{ffff}`

// refuseLineEnds has no string of a schema admit [notKeptByYAML].
func refuseLineEnds(schema map[string]any, name string) {
	if pattern, has := schema["pattern"].(string); isText(schema) && has {
		schema["pattern"] = strings.ReplaceAll(pattern, "[^", "[^"+notKeptByYAML)
	} else if isText(schema) && schema["enum"] == nil && schema["format"] == nil {
		schema["pattern"] = "^[^" + notKeptByYAML + "]*$"
	}
	belowByName(schema, name, refuseLineEnds)
}

// annotationRules are about annotations of Pods whose values the API server validates, and
// quotes where it refuses a Pod: ValidatePodSpecificAnnotations of Kubernetes'
// pkg/apis/core/validation. All but the last have had fields for long.
var annotationRules = []rule{
	{"!self.exists(key, key in ['scheduler.alpha.kubernetes.io/tolerations', 'kubernetes.io/config.mirror', 'seccomp.security.alpha.kubernetes.io/pod'] || " +
		"key.startsWith('container.apparmor.security.beta.kubernetes.io/') || key.startsWith('container.seccomp.security.alpha.kubernetes.io/'))",
		"annotations cannot set AppArmor, seccomp, tolerations or a mirror Pod: use securityContext and spec.tolerations"},
	{"!('controller.kubernetes.io/pod-deletion-cost' in self) || size(self['controller.kubernetes.io/pod-deletion-cost']) <= 11", // a pattern would cost too much
		"the annotation controller.kubernetes.io/pod-deletion-cost must be a number of at most 11 characters, for example -100"},
}

// boundKeys adds rules to each map of a schema, which cannot bound keys itself.
func boundKeys(schema map[string]any, name string) {
	if member(schema, "additionalProperties") != nil && isKnownToCEL(schema) {
		if name == "annotations" || name == "podAnnotations" {
			for _, rule := range annotationRules {
				addRule(schema, rule)
			}
		}
		addRule(schema, rule{
			fmt.Sprintf("self.all(key, size(key) <= %d)", longestKey),
			fmt.Sprintf("a key has more than %d characters: shorten it", longestKey),
		})
	}
	belowByName(schema, name, boundKeys)
}

// isKnownToCEL reports whether a rule can be about a list or a map: it cannot where an item or a
// value has any content, and so no type.
func isKnownToCEL(schema map[string]any) bool {
	for _, keyword := range []string{"items", "additionalProperties"} {
		if inner := member(schema, keyword); inner != nil {
			return isKnownToCEL(inner)
		}
	}
	return schema["type"] != nil || schema["x-kubernetes-int-or-string"] == true
}

func entriesOf(name string) int {
	if manyEntries[name] {
		return mostEntries
	}
	return fewEntries
}

// The exponent of a quantity in Kubernetes' pattern, and the one that is admitted: to
// read a quantity takes time that grows with the square of its exponent.
const (
	anyExponent   = `([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+)))`
	shortExponent = `([eE](\+|-)?[0-9]{1,2})`
)

// boundQuantities adds a maximal length to each quantity of a schema, as in the
// hooks.
func boundQuantities(schema map[string]any) {
	if pattern, _ := schema["pattern"].(string); strings.Contains(pattern, anyExponent) {
		schema["pattern"] = strings.Replace(pattern, anyExponent, shortExponent, 1)
		schema["maxLength"] = int64(longestQuantity)
	}
	below(schema, boundQuantities)
}

// boundNumbers adds the range to each number of a schema that has a format: a format is
// not validated, and no hook can decode a larger number. A number of seconds has that of 32 bits:
// Kubernetes' controllers multiply it by 1e9, which overflows for some that have 64 bits.
func boundNumbers(schema map[string]any) {
	for name := range member(schema, "properties") {
		field := member(member(schema, "properties"), name)
		if field["type"] == "integer" && (strings.HasSuffix(name, "Seconds") || name == "seconds") {
			boundInteger(field, reflect.TypeFor[int32]())
		}
	}
	below(schema, boundNumbers)
	switch schema["format"] {
	case "int32":
		boundInteger(schema, reflect.TypeFor[int32]())
	case "int64":
		boundInteger(schema, reflect.TypeFor[int64]())
	}
}
