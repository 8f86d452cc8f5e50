package apiserver

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Apply is a forced server-side apply by the only applier. Fields that were
// applied before and are no longer are removed, unless somebody else has
// written them since.
func (s *Server) Apply(desired Object) (Object, error) {
	applied := applicable(desired.Object)
	old := s.held.objects[RefOf(desired)]
	if old == nil {
		object, err := s.Create(ByHook, desired)
		if err != nil {
			return nil, err
		}
		return s.noteApplied(object, applied), nil
	}
	merged := old.object.DeepCopy()
	applyObject(merged.Object, old.applied, applied)
	object, err := s.Update(ByHook, merged)
	if err != nil {
		return nil, err
	}
	return s.noteApplied(object, applied), nil
}

// noteApplied records the applied fields.
func (s *Server) noteApplied(object Object, applied map[string]any) Object {
	ref := RefOf(object)
	fields := []any{map[string]any{
		"manager": "metacontroller", "operation": "Apply", "apiVersion": ref.APIVersion,
		"fieldsType": "FieldsV1", "fieldsV1": fieldsV1(applied),
	}}
	old, _, _ := unstructured.NestedFieldNoCopy(object.Object, "metadata", "managedFields")
	s.held.objects[ref].applied = applied
	if reflect.DeepEqual(old, fields) {
		return object
	}
	successor := object.DeepCopy()
	successor.Object["metadata"].(map[string]any)["managedFields"] = fields
	s.put(ByHook, ref, successor, object)
	return s.Get(ref)
}

// applicable returns the part of a desired object whose fields can be owned.
func applicable(desired map[string]any) map[string]any {
	applied := runtime.DeepCopyJSON(desired)
	delete(applied, "apiVersion")
	delete(applied, "kind")
	if metadata, ok := applied["metadata"].(map[string]any); ok {
		delete(metadata, "name")
		delete(metadata, "namespace")
	}
	return applied
}
