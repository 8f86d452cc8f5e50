package apiserver

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Equal reports whether two JSON values are equal: 1 and 1.0 differ, and so do an
// empty map and a missing one. It is [reflect.DeepEqual] without its memory.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && (a == nil) == (b == nil) && equalMaps(a, b)
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

func equalMaps(a, b map[string]any) bool {
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

// ownerUIDs calls visit with the UID of each owner of an object.
func ownerUIDs(object Object, visit func(types.UID)) {
	eachOwner(object, func(owner map[string]any) {
		uid, _ := owner["uid"].(string)
		visit(types.UID(uid))
	})
}

// HasOwners reports whether an object has owners.
func HasOwners(object Object) bool {
	metadata, _ := object.Object["metadata"].(map[string]any)
	return metadata["ownerReferences"] != nil
}

func eachOwner(object Object, visit func(map[string]any)) {
	metadata, _ := object.Object["metadata"].(map[string]any)
	owners, _ := metadata["ownerReferences"].([]any)
	for _, owner := range owners {
		if fields, ok := owner.(map[string]any); ok {
			visit(fields)
		}
	}
}

// controllerIn returns the owner that is an object's controller, or nil.
func controllerIn(object Object) (controller map[string]any) {
	eachOwner(object, func(owner map[string]any) {
		if is, _ := owner["controller"].(bool); is && controller == nil {
			controller = owner
		}
	})
	return controller
}

// owner returns an owner reference as it is in an object.
func ownerOf(fields map[string]any) metav1.OwnerReference {
	text := func(name string) string { value, _ := fields[name].(string); return value }
	return metav1.OwnerReference{APIVersion: text("apiVersion"), Kind: text("kind"), Name: text("name"), UID: types.UID(text("uid"))}
}
