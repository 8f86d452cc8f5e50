package kube

import (
	"reflect"

	"k8s.io/apimachinery/pkg/types"
)

// Equal reports whether two JSON values are equal: 1 and 1.0 differ, and so do an
// empty map and a missing one. It is [reflect.DeepEqual] without its memory.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && (a == nil) == (b == nil) && EqualMaps(a, b)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) || (a == nil) != (b == nil) {
			return false
		}
		for i := range a {
			if !Equal(a[i], b[i]) {
				return false
			}
		}
		return true
	default:
		switch b.(type) {
		case map[string]any, []any:
			return false
		}
		return a == b
	}
}

// EqualMaps is [Equal] of two maps, of which a missing one is empty.
func EqualMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	if reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer() {
		return true
	}
	for key, value := range a {
		if other, found := b[key]; !found || !Equal(value, other) {
			return false
		}
	}
	return true
}

// Label returns one label of an object, or nothing.
func Label(object Object, name string) string { return metadataText(object, "labels", name) }

// Annotation returns one annotation of an object, or nothing.
func Annotation(object Object, name string) string { return metadataText(object, "annotations", name) }

func metadataText(object Object, field, name string) string {
	metadata, _ := object.Object["metadata"].(map[string]any)
	fields, _ := metadata[field].(map[string]any)
	text, _ := fields[name].(string)
	return text
}

// Owners returns the owner references of an object, which are not to be modified.
func Owners(object Object) []any {
	metadata, _ := object.Object["metadata"].(map[string]any)
	owners, _ := metadata["ownerReferences"].([]any)
	return owners
}

func controllerIn(object Object) map[string]any {
	for _, owner := range Owners(object) {
		if fields, _ := owner.(map[string]any); fields["controller"] == true {
			return fields
		}
	}
	return nil
}

// UIDOf returns the UID of an owner reference, or nothing.
func UIDOf(owner any) types.UID {
	fields, _ := owner.(map[string]any)
	uid, _ := fields["uid"].(string)
	return types.UID(uid)
}
