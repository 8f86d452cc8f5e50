package simulate

import (
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/metacontroller"
)

// applyState is what Metacontroller remembers of a child that it has applied on
// the server: it does not compare the child with anything else.
type applyState struct {
	desired    string
	uid        types.UID
	generation int64
	version    string
}

// stateOf tells what the memory of an object would be. The resource version
// counts only for kinds that have no generation.
func stateOf(object Object, desired string) applyState {
	state := applyState{desired: desired, uid: object.GetUID(), generation: object.GetGeneration()}
	if state.generation == 0 {
		state.version = object.GetResourceVersion()
	}
	return state
}

// applyOnServer applies a child with force, unless it is the one that was
// applied last.
func (m *composite) applyOnServer(p *parent, object, live, desired Object) error {
	desired = desired.DeepCopy()
	claim(desired, object)
	for _, field := range serverSet {
		unstructured.RemoveNestedField(desired.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(desired.Object, "status")
	text, err := json.Marshal(desired.Object)
	if err != nil {
		return err
	}
	ref := RefOf(desired)
	if live != nil {
		state := stateOf(live, string(text))
		if m.applied[ref] == state {
			return nil
		}
		if p.updateMethod(ref) != metacontroller.InPlace {
			m.applied[ref] = state
			return nil
		}
	}
	m.requests++
	patched, err := m.api.apply(desired)
	if apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return err
	}
	m.applied[ref] = stateOf(patched, string(text))
	return nil
}

// apply is a server-side apply with force, as the one applier does it. What was applied before and is not
// any more goes away, unless somebody else has written it since.
func (s *store) apply(desired Object) (Object, error) {
	ref := RefOf(desired)
	owned := ownable(desired.Object)
	r := s.objects[ref]
	if r == nil {
		object, err := s.create(byHook, desired)
		if err != nil {
			return nil, err
		}
		return s.own(object, owned), nil
	}
	merged := r.object.DeepCopy()
	applyObject(merged.Object, r.owned, owned)
	object, err := s.update(byHook, merged)
	if err != nil {
		return nil, err
	}
	return s.own(object, owned), nil
}

// own records which fields an apply has named.
func (s *store) own(object Object, owned map[string]any) Object {
	ref := RefOf(object)
	fields := []any{map[string]any{
		"manager": "metacontroller", "operation": "Apply", "apiVersion": ref.APIVersion,
		"fieldsType": "FieldsV1", "fieldsV1": describe(owned),
	}}
	old, _, _ := unstructured.NestedFieldNoCopy(object.Object, "metadata", "managedFields")
	s.objects[ref].owned = owned
	if equal(old, fields) {
		return object
	}
	successor := object.DeepCopy()
	successor.Object["metadata"].(map[string]any)["managedFields"] = fields
	s.put(byHook, ref, successor, object)
	s.objects[ref].owned = owned
	return s.get(ref)
}

// ownable returns what of a desired object has an owner.
func ownable(desired map[string]any) map[string]any {
	owned := deepCopy(desired)
	delete(owned, "apiVersion")
	delete(owned, "kind")
	if metadata, ok := owned["metadata"].(map[string]any); ok {
		delete(metadata, "name")
		delete(metadata, "namespace")
	}
	return owned
}
