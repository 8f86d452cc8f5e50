package crds

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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
	}
}
