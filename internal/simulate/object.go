package simulate

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
)

// Object is a Kubernetes object of any kind. Its numbers are int64 and float64.
type Object = *unstructured.Unstructured

// Ref names an object.
type Ref struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace is empty for a kind that has none.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// RefOf returns the reference to an object.
func RefOf(object Object) Ref {
	return Ref{object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName()}
}

// String returns the short form, as in Deployment/web.
func (r Ref) String() string { return r.Kind + "/" + r.Name }

// key returns what Metacontroller's hook version v2 calls the object.
func (r Ref) key() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// compare orders references for output: by kind, namespace and name.
func (r Ref) compare(other Ref) int {
	return cmp.Or(strings.Compare(r.APIVersion, other.APIVersion), strings.Compare(r.Kind, other.Kind),
		strings.Compare(r.Namespace, other.Namespace), strings.Compare(r.Name, other.Name))
}

func (r Ref) groupKind() schema.GroupKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind).GroupKind()
}

// ParseObject reads an object from JSON. The error says what it lacks.
func ParseObject(text []byte) (Object, error) {
	content, err := parseJSON(text)
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

// decodeInto fills a typed object in.
func decodeInto(object Object, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
}

// encoded returns the untyped form of a typed object.
func encoded(typed any) (Object, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	return &unstructured.Unstructured{Object: content}, err
}

// mustEncode is encoded for objects that this package has made itself.
func mustEncode(typed any) Object {
	object, err := encoded(typed)
	if err != nil {
		panic(err)
	}
	return object
}

// parseJSON reads a JSON object. Its numbers are int64 and float64.
func parseJSON(text []byte) (map[string]any, error) {
	content := map[string]any{}
	err := kjson.UnmarshalCaseSensitivePreserveInts(text, &content)
	return content, err
}

// ownerUID returns the UID of the object's controller, or nothing.
func ownerUID(object Object) types.UID {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			return owner.UID
		}
	}
	return ""
}
