// Package kube is a Kubernetes object as the workbench sees it. It tells how one is named,
// who owns it, what its conditions say, how it is and how far, how two of them differ, and
// what of them is hidden.
//
// It is not called object, as a thousand variables are.
package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Object is a Kubernetes object of any kind. Its numbers are int64 and float64.
type Object = *unstructured.Unstructured

// Ref names an object.
type Ref struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace is empty for cluster-scoped kinds.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// RefOf returns the reference to an object.
func RefOf(object Object) Ref {
	return Ref{object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName()}
}

// String returns the short form, as in Deployment/web.
func (r Ref) String() string { return r.Kind + "/" + r.Name }

// Key returns the object's namespace and name, as in default/web, or its name alone
// where it has no namespace.
func (r Ref) Key() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// Compare orders references by API version, kind, namespace and name.
func (r Ref) Compare(other Ref) int {
	return cmp.Or(strings.Compare(r.APIVersion, other.APIVersion), strings.Compare(r.Kind, other.Kind),
		strings.Compare(r.Namespace, other.Namespace), strings.Compare(r.Name, other.Name))
}

// Is reports whether the object is of a kind. Others may have kinds of the same name:
// a Service of Knative is none of Kubernetes.
func (r Ref) Is(kind metacontroller.Resource) bool {
	return r.APIVersion == kind.APIVersion && r.Kind == kind.Kind
}

// GroupKind returns the API group and the kind.
func (r Ref) GroupKind() schema.GroupKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind).GroupKind()
}

// ParseObject reads an object from JSON. The error says what it lacks.
func ParseObject(text []byte) (Object, error) {
	content, err := ParseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	object := &unstructured.Unstructured{Object: content}
	metadata, _ := content["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	switch {
	case object.GetAPIVersion() == "" || object.GetKind() == "":
		return nil, fmt.Errorf("it has no apiVersion or no kind")
	case name == "":
		return nil, fmt.Errorf("the %s has no metadata.name", object.GetKind())
	}
	return object, nil
}

// ParseJSON reads a JSON object. Its numbers are int64 and float64.
func ParseJSON(text []byte) (map[string]any, error) {
	content := map[string]any{}
	err := kjson.UnmarshalCaseSensitivePreserveInts(text, &content)
	return content, err
}

// Decode fills in a typed object. The error says which field does not fit.
func Decode(object Object, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
}

// Encode returns the untyped form of a typed object. It panics if it is not a Kubernetes type.
func Encode(typed any) Object {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		panic(err)
	}
	return &unstructured.Unstructured{Object: content}
}

// ControllerOf returns the reference to an object's controller, if it has one.
func ControllerOf(object Object) (Ref, bool) {
	if object == nil {
		return Ref{}, false
	}
	controller := controllerIn(object)
	if controller == nil {
		return Ref{}, false
	}
	text := func(name string) string { value, _ := controller[name].(string); return value }
	return Ref{text("apiVersion"), text("kind"), object.GetNamespace(), text("name")}, true
}

// ControllerUID returns the UID of an object's controller, or nothing.
func ControllerUID(object Object) types.UID {
	return UIDOf(controllerIn(object))
}

// IsOwnedBy reports whether an object is one of another's owners.
func IsOwnedBy(object, owner Object) bool {
	return slices.ContainsFunc(Owners(object), func(other any) bool { return UIDOf(other) == owner.GetUID() })
}

// KeepOwners returns a copy of an object with only the owners that are kept.
func KeepOwners(object Object, keep func(metav1.OwnerReference) bool) Object {
	object = WithMetadata(object)
	owners := slices.DeleteFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return !keep(owner) })
	if len(owners) == 0 {
		owners = nil // no empty list
	}
	object.SetOwnerReferences(owners)
	return object
}

// SetAnnotation sets one annotation of an object.
func SetAnnotation(object Object, name, value string) {
	object.SetAnnotations(labels.Merge(object.GetAnnotations(), map[string]string{name: value}))
}
