package kube

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Shallow returns a copy of which the members can be replaced.
func Shallow(object Object) Object {
	return &unstructured.Unstructured{Object: maps.Clone(object.Object)}
}

// WithMetadata returns a copy of which the members, and those of its metadata, can be replaced.
func WithMetadata(object Object) Object {
	object = Shallow(object)
	if metadata, ok := object.Object["metadata"].(map[string]any); ok {
		object.Object["metadata"] = maps.Clone(metadata)
	}
	return object
}

// SameBut reports whether two objects are equal except for those members: 1 and
// 1.0 differ, and so do an empty map and a missing one.
func SameBut(a, b Object, members ...string) bool {
	without := func(object Object) map[string]any {
		content := maps.Clone(object.Object)
		maps.DeleteFunc(content, func(key string, _ any) bool { return slices.Contains(members, key) })
		return content
	}
	return EqualMaps(without(a), without(b))
}

// MergePatch returns an object with a merge patch (RFC 7386) applied. Neither is changed, and
// the result shares what the patch does not touch.
func MergePatch(object, patch map[string]any) map[string]any {
	result := maps.Clone(object)
	if result == nil {
		result = map[string]any{}
	}
	for key, value := range patch {
		fields, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(result, key)
		case isMap:
			old, _ := result[key].(map[string]any)
			result[key] = MergePatch(old, fields)
		default:
			result[key] = runtime.DeepCopyJSONValue(value)
		}
	}
	return result
}
