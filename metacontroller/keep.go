package metacontroller

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// LastAppliedAnnotation holds what Metacontroller applied last, if its apply
// strategy is dynamic-apply, which is its default. Anyone who may edit the
// object can write it, so it is never a source of values.
const LastAppliedAnnotation = "metacontroller.k8s.io/last-applied-configuration"

// controllerUIDLabel is the label by which Metacontroller selects the children
// of a parent. It adds the label itself.
const controllerUIDLabel = "controller-uid"

// kept is a child that stays as it is, see [Keep].
type kept struct {
	unstructured.Unstructured

	snapshot Snapshot
	// path is the one field that changes, to value. It is nil where none does.
	path  []string
	value string
}

// Keep returns a child that makes Metacontroller leave an observed object as it
// is. It is for a child whose content the request no longer tells, and the one
// allowed way to copy what was observed: an object that an answer leaves out is
// deleted, and one that names only some of its fields loses the others.
//
// What is written depends on the kind's update method. An existing OnDelete
// child is never modified, so its name is enough. An InPlace child is written
// with the fields that were last applied and with the values that they have
// now, so that applying it changes nothing and takes no field from another
// owner. See [appliedFields] for how they are told.
func Keep(observed Snapshot) Object {
	child := &kept{snapshot: observed}
	child.Object = identityOf(observed)
	return child
}

// KeepWith is [Keep] but for one field of text, which gets another value. It is
// for the last word to a child that goes: the spec may not tell any more what is
// in it, and what is asked for anew could be refused.
func KeepWith(observed Snapshot, value string, path ...string) Object {
	child := &kept{snapshot: observed, path: path, value: value}
	child.Object = identityOf(observed)
	return child
}

// identityOf returns the fields of an object that say which one it is. The
// namespace is left out: a child is in that of its parent.
func identityOf(s Snapshot) map[string]any {
	return map[string]any{
		"apiVersion": s.APIVersion,
		"kind":       s.Kind,
		"metadata":   map[string]any{"name": s.Name},
	}
}

// wire returns the child as it is sent. An error means that the observed object
// cannot be read: then its fields must not be given up.
func (k *kept) wire(method UpdateMethod) (*unstructured.Unstructured, error) {
	if method == OnDelete {
		return &k.Unstructured, nil
	}
	annotation, _ := text(lookup(k.snapshot.raw, "metadata", "annotations", LastAppliedAnnotation))
	cost := anySize(k.snapshot.raw)
	if json.Valid([]byte(annotation)) {
		cost += anySize([]byte(annotation))
	}
	if err := k.snapshot.run.afford(restatedCost * cost); err != nil {
		return nil, fmt.Errorf("cannot keep %s, which has too many values: %w", k.snapshot.Ref(), err)
	}
	var object map[string]any
	if err := decode(k.snapshot.raw, &object); err != nil {
		return nil, fmt.Errorf("cannot keep %s: %w", k.snapshot.Ref(), err)
	}
	selected := appliedFields(k.snapshot, annotation, object)
	if err := k.snapshot.run.failure(); err != nil {
		return nil, err
	}
	restated, _ := selected.of(object).(map[string]any)
	if restated == nil {
		restated = map[string]any{}
	}
	delete(restated, "status")
	for _, name := range []string{"spec", "data"} {
		if _, isObject := restated[name].(map[string]any); !isObject {
			delete(restated, name) // or a teardown would stop at a child that is damaged
		}
	}
	metadata, _ := restated["metadata"].(map[string]any)
	own := map[string]any{"name": k.snapshot.Name}
	for _, name := range []string{"labels", "annotations"} {
		if values, ok := metadata[name].(map[string]any); ok {
			delete(values, controllerUIDLabel)
			delete(values, LastAppliedAnnotation)
			own[name] = values
		}
	}
	for name, value := range identityOf(k.snapshot) {
		restated[name] = value
	}
	restated["metadata"] = own
	if k.path != nil {
		if err := unstructured.SetNestedField(restated, k.value, k.path...); err != nil {
			return nil, fmt.Errorf("cannot change %s: %w", k.snapshot.Ref(), err)
		}
	}
	return &unstructured.Unstructured{Object: restated}, nil
}
