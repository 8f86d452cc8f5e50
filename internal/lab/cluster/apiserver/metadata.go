package apiserver

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// serverSet are the members of metadata that only the server sets.
var serverSet = []string{
	"selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
	"deletionTimestamp", "deletionGracePeriodSeconds", "managedFields",
}

// KeepServerSet restores what only the server sets, and the status.
func KeepServerSet(object, old Object) {
	metadata := object.Object["metadata"].(map[string]any)
	oldMetadata := old.Object["metadata"].(map[string]any)
	for _, field := range serverSet {
		keep(metadata, oldMetadata, field)
	}
	keep(object.Object, old.Object, "status")
}

// DropServerSet removes what only the server sets, and the status.
func DropServerSet(object Object) {
	for _, field := range serverSet {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	delete(object.Object, "status")
}

func keep(content, old map[string]any, field string) {
	if value, found := old[field]; found {
		content[field] = value
	} else {
		delete(content, field)
	}
}

func shallow(object Object) Object {
	return &unstructured.Unstructured{Object: maps.Clone(object.Object)}
}

// WithMetadata returns a copy of which the members, and those of its metadata, can be replaced.
func WithMetadata(object Object) Object {
	object = shallow(object)
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
	return equalMaps(without(a), without(b))
}

// isGraceful reports whether deletion waits for a kubelet: a Pod on a node that has not ended.
func isGraceful(object Object) bool {
	if object.GetKind() != "Pod" || object.GetAPIVersion() != "v1" {
		return false
	}
	node, _, _ := unstructured.NestedString(object.Object, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	return node != "" && phase != "Succeeded" && phase != "Failed"
}

// Patch changes an object by a merge patch (RFC 7386) in JSON. Errors are those
// of the API server, or that the patch is no JSON object.
func (s *Server) Patch(by Actor, ref Ref, patch []byte) error {
	live, err := s.Live(ref)
	if err != nil {
		return err
	}
	changes, err := ParseJSON(patch)
	if err != nil {
		return fmt.Errorf("the patch is no JSON object: %w", err)
	}
	object := WithMetadata(&unstructured.Unstructured{Object: MergePatch(live.Object, changes)})
	unstructured.RemoveNestedField(object.Object, "metadata", "resourceVersion")
	_, err = s.Update(by, object)
	return err
}

// MergePatch returns an object with a merge patch applied. Neither is changed, and
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
