package metacontroller

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// LastAppliedAnnotation holds what Metacontroller applied last under the
// dynamic-apply strategy, its default. Anyone who may edit the object can write
// it, so no value is ever taken from it.
const LastAppliedAnnotation = "metacontroller.k8s.io/last-applied-configuration"

// controllerUIDLabel is the label by which Metacontroller selects the children
// of a parent. It adds the label itself.
const controllerUIDLabel = "controller-uid"

// kept is a child that stays unchanged, see [Keep].
type kept struct {
	unstructured.Unstructured

	snapshot Snapshot
	// path is the only field that changes, to value. It is nil if none does.
	path  []string
	value string
}

// Keep returns a child that makes Metacontroller leave an observed object as it
// is. Use it for a child whose content can no longer be computed from the
// request. It is the only allowed way to copy what was observed: an object that
// an answer leaves out is deleted, and one that names only some of its fields
// loses the others.
//
// What is written depends on the kind's update method. An existing OnDelete
// child is never modified, so its name is enough. An InPlace child is written
// with the fields that were last applied (see [appliedFields]) and their
// current values, so that applying it changes nothing and takes no field from
// another owner.
func Keep(observed Snapshot) Object {
	return keep(observed)
}

// keep reserves the memory of a kept child. A hook does not see the error if
// there is too little, but the call ends with it.
func keep(observed Snapshot) *kept {
	if run := observed.run; run != nil {
		run.kept++
		_ = run.spendEach(run.kept, keptBytes)
	}
	child := &kept{snapshot: observed}
	child.Object = identityOf(observed)
	return child
}

// KeepWith is [Keep] with a new value for one string field. Use it for the last
// update of a child before its deletion: the spec may no longer describe the
// child, and the API server could refuse one that is built anew.
func KeepWith(observed Snapshot, value string, path ...string) Object {
	child := keep(observed)
	child.path, child.value = path, value
	return child
}

// identityOf returns the apiVersion, kind and name of an object. The namespace
// is left out: a child is in that of its parent.
func identityOf(s Snapshot) map[string]any {
	return map[string]any{
		"apiVersion": s.APIVersion,
		"kind":       s.Kind,
		"metadata":   map[string]any{"name": s.Name},
	}
}

// wire returns the child as it is sent. An error means that the observed object
// cannot be read: without its fields the update would remove them.
func (k *kept) wire(method UpdateMethod) (*unstructured.Unstructured, error) {
	if method == OnDelete {
		return &k.Unstructured, nil
	}
	annotation, _ := text(lookup(k.snapshot.raw, "metadata", "annotations", LastAppliedAnnotation))
	cost := anySize(k.snapshot.raw)
	if json.Valid([]byte(annotation)) {
		cost += anySize([]byte(annotation))
	}
	if err := k.snapshot.run.spendOptionally(restatedCost * cost); err != nil {
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
	if len(k.snapshot.raw) > MaxAppliedBytes && isTooLargeToApply(restated) {
		// Metacontroller could not apply it. Where it keeps an annotation, that has all
		// that it would remove, and managedFields are what others have applied.
		if only := annotatedFields(annotation, object); only != nil {
			restated, _ = only.of(object).(map[string]any)
		}
	}
	if restated == nil {
		restated = map[string]any{}
	}
	delete(restated, "status")
	for _, name := range []string{"spec", "data"} {
		if _, isObject := restated[name].(map[string]any); !isObject {
			delete(restated, name) // otherwise a damaged child would block the teardown
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

// isTooLargeToApply reports whether Metacontroller's annotation cannot hold an object.
func isTooLargeToApply(object map[string]any) bool {
	wire, err := json.Marshal(object)
	return err == nil && appliedSize(wire) > MaxAppliedBytes
}
