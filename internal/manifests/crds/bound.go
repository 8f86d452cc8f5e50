package crds

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bound writes into the schema of a type of Kubernetes how long its strings may
// be, which its Go type does not say. The API server reckons the cost of a CEL
// rule from the schema, and refuses every rule that compares names of which
// there are many and each could be megabytes long.
func bound(schema map[string]any, t reflect.Type) {
	const (
		label    = 63 // what Kubernetes accepts for these names anyway
		quantity = 64 // far more than any number with its unit takes
	)
	switch t {
	case reflect.TypeFor[corev1.Container](), reflect.TypeFor[corev1.Volume](), reflect.TypeFor[corev1.VolumeMount]():
		if name := member(member(schema, "properties"), "name"); name != nil {
			name["maxLength"] = label
		}
	case reflect.TypeFor[resource.Quantity]():
		schema["maxLength"] = quantity
	case reflect.TypeFor[metav1.LabelSelector]():
		boundSelector(member(member(schema, "properties"), "matchExpressions"))
	}
}

// boundSelector writes how many requirements a selector may have, and how many
// values each: far more than anybody writes.
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
