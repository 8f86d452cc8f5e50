package metacontroller

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/applied"
	"github.com/operetta-dev/operetta/internal/rawjson"
	"github.com/operetta-dev/operetta/internal/wire"
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
	metav1.PartialObjectMetadata

	snapshot Snapshot
	// path is the only field that changes, to value. It is nil if none does.
	path  []string
	value any
}

// Keep returns a child that makes Metacontroller leave an observed object as it
// is. Use it for a child whose content can no longer be computed from the
// request. It is the only allowed way to copy what was observed: an object that
// an answer leaves out is deleted, and one that names only some of its fields
// loses the others.
//
// What is written depends on the kind's update method. An existing OnDelete
// child is never modified, so its name is enough. An InPlace child is written
// with the fields that were last applied and their current values, so that applying
// it changes nothing and takes no field from another owner.
func Keep(observed Snapshot) Object { return keep(observed) }

func keep(observed Snapshot) *kept {
	child := &kept{snapshot: observed}
	child.APIVersion, child.Kind, child.Name = observed.APIVersion, observed.Kind, observed.Name
	return child
}

// KeepWith is [Keep] with a new value for one field, a string or a number, of a child that is
// updated in place. Use it for the last update of a child before its deletion, or while it
// waits: the spec may no longer describe the child, and the API server could refuse one that
// is built anew.
func KeepWith[T string | int64](observed Snapshot, value T, path ...string) Object {
	child := keep(observed)
	child.path, child.value = path, value
	return child
}

// wire returns the child as it is sent. The namespace is left out: a child is in that of its
// parent. An error means that the observed object cannot be read: without its fields
// the update would remove them.
func (k *kept) wire(method UpdateMethod) ([]byte, error) {
	if method == OnDelete {
		b := make([]byte, 0, 64+len(k.snapshot.APIVersion)+len(k.snapshot.Kind)+len(k.snapshot.Name))
		b = wire.AppendString(append(b, `{"apiVersion":`...), k.snapshot.APIVersion)
		b = wire.AppendString(append(b, `,"kind":`...), k.snapshot.Kind)
		b = wire.AppendString(append(b, `,"metadata":{"name":`...), k.snapshot.Name)
		return append(b, "}}"...), nil
	}
	var object map[string]any
	if err := decode(k.snapshot.raw, &object); err != nil {
		return nil, fmt.Errorf("cannot keep %s: %w", k.snapshot.Ref(), err)
	}
	observed := applied.Object{
		Content: object, LastApplied: k.snapshot.annotation(LastAppliedAnnotation), Managed: k.snapshot.managed,
		Marks: [][]string{{"f:metadata", "f:annotations", "f:" + HashAnnotation}, {"f:metadata", "f:labels", "f:" + controllerUIDLabel}},
	}
	restated, err := k.restate(observed.Fields())
	if err == nil && appliedSize(restated) > MaxAppliedBytes {
		// Metacontroller could not apply it. Where it keeps an annotation, that has all
		// that it would remove, and managedFields are what others have applied.
		if only, isAnnotated := observed.AnnotatedFields(); isAnnotated {
			return k.restate(only)
		}
	}
	return restated, err
}

// restate returns the wire form of the selected fields of the observed object, with its
// identity and without what a hook must not set.
func (k *kept) restate(restated map[string]any) ([]byte, error) {
	child := map[string]any{}
	for name, value := range restated {
		_, isObject := value.(map[string]any)
		if name != "status" && (isObject || name != "spec" && name != "data") { // otherwise a damaged child would block the teardown
			child[name] = value
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
	child["apiVersion"], child["kind"], child["metadata"] = k.snapshot.APIVersion, k.snapshot.Kind, own
	if k.path != nil {
		if err := unstructured.SetNestedField(child, k.value, k.path...); err != nil {
			return nil, fmt.Errorf("cannot change %s: %w", k.snapshot.Ref(), err)
		}
	}
	return wire.AppendValue(make([]byte, 0, 2048), child)
}

// HasApplied reports whether Metacontroller applied a field of the observed object last. A hook
// that leaves out such a field has it removed, and the API server fills in its default.
//
// Metacontroller's annotation decides. If it is missing or is no JSON, managedFields do: any
// apply operation counts, and an update of the fields that every child carries.
func (s Snapshot) HasApplied(path ...string) bool {
	last := []byte(s.annotation(LastAppliedAnnotation))
	if rawjson.IsValid(last) && rawjson.IsObject(last) && (rawjson.Lookup(last, path[0]) == nil || rawjson.IsObject(rawjson.Lookup(last, path[0]))) {
		return !rawjson.IsNull(rawjson.Lookup(last, path...))
	}
	found := false
	rawjson.Elements(s.managed, func(entry []byte) bool {
		fields := rawjson.Lookup(entry, "fieldsV1")
		for _, name := range path {
			fields = rawjson.Lookup(fields, "f:"+name)
		}
		operation, _ := rawjson.Text(rawjson.Lookup(entry, "operation"))
		isApplied := operation == string(metav1.ManagedFieldsOperationApply) || rawjson.Lookup(entry, "fieldsV1", "f:metadata", "f:annotations", "f:"+HashAnnotation) != nil
		found = fields != nil && isApplied && rawjson.Lookup(entry, "subresource") == nil
		return !found
	})
	return found
}
