package metacontroller

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// LastAppliedAnnotation holds what Metacontroller applied last, if its apply
// strategy is dynamic-apply, which is its default.
const LastAppliedAnnotation = "metacontroller.k8s.io/last-applied-configuration"

// serverSetMetadata are the members of metadata that only the API server, or
// Metacontroller on behalf of a parent, sets.
var serverSetMetadata = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "managedFields", "selfLink", "generateName", "ownerReferences",
}

// Keep returns a child that makes Metacontroller leave an observed object as it
// is. It is for a child whose content the request no longer tells, and the one
// allowed way to copy what was observed: an object that an answer leaves out is
// deleted, and one that names only some of its fields loses the others.
//
// What is written depends on the kind's update method. An existing OnDelete
// child is never modified, so its name is enough. An InPlace child is written
// as it was last applied or, where that is not known because Metacontroller
// applies on the server side, as it was observed without its status and the
// metadata that the server sets.
func Keep(observed Snapshot) Object {
	child := &kept{snapshot: observed}
	child.Object = map[string]any{}
	child.SetAPIVersion(observed.APIVersion)
	child.SetKind(observed.Kind)
	child.SetName(observed.Name)
	return child
}

// wire fills in what an InPlace child was last. It returns an error where the
// observed object cannot be read: then its fields must not be given up.
func (k *kept) wire(method UpdateMethod) (*unstructured.Unstructured, error) {
	if method == OnDelete {
		return &k.Unstructured, nil
	}
	var object map[string]any
	if err := decode(k.snapshot.raw, &object); err != nil {
		return nil, fmt.Errorf("cannot keep %s: %w", k.snapshot.Ref(), err)
	}
	observed := &unstructured.Unstructured{Object: object}
	if last := observed.GetAnnotations()[LastAppliedAnnotation]; last != "" {
		applied := map[string]any{}
		if !json.Valid([]byte(last)) || decode([]byte(last), &applied) != nil {
			return nil, fmt.Errorf("cannot keep %s: its %s annotation is damaged", k.snapshot.Ref(), LastAppliedAnnotation)
		}
		lastApplied := &unstructured.Unstructured{Object: applied}
		if lastApplied.GetName() != k.snapshot.Name || lastApplied.GetKind() != k.snapshot.Kind {
			return nil, fmt.Errorf("cannot keep %s: its %s annotation is of another object", k.snapshot.Ref(), LastAppliedAnnotation)
		}
		return lastApplied, nil
	}
	for _, field := range serverSetMetadata {
		unstructured.RemoveNestedField(object, "metadata", field)
	}
	delete(object, "status")
	return observed, nil
}
