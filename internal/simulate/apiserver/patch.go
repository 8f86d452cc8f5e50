package apiserver

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

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
