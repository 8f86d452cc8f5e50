package composite

import (
	"encoding/json"
	"fmt"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Asked is a child that Metacontroller creates or updates.
type Asked struct {
	// New is set where it is created.
	New bool
	// Desired is the child of the hook with what Metacontroller adds: the namespace, the label of
	// the selector and the owner. It is the body of a server-side apply.
	Desired kube.Object
}

// Ask registers a function that is called for each child that Metacontroller sends by DynamicApply,
// before the API server handles it. An error of the function is returned as a refusal.
func (m *Metacontroller) Ask(tell func(Asked) error) { m.asked = tell }

// tellAsked calls that function. An adoption changes the owner only.
func (m *Metacontroller) tellAsked(isNew bool, object kube.Object) error {
	if m.asked == nil || m.parents[kube.RefOf(object)] != nil {
		return nil
	}
	last, err := lastApplied(object)
	if err != nil || last == nil {
		return err
	}
	desired := &unstructured.Unstructured{Object: last}
	desired.SetOwnerReferences(object.GetOwnerReferences())
	return m.asked(Asked{New: isNew, Desired: desired})
}

// Posted returns what Metacontroller sends to create a child by DynamicApply.
func (a Asked) Posted() (kube.Object, error) {
	object := a.Desired.DeepCopy()
	object.SetOwnerReferences(nil) // it is added when a child is created
	text, err := json.Marshal(object.Object)
	kube.SetAnnotation(object, metacontroller.LastAppliedAnnotation, string(text))
	object.SetOwnerReferences(a.Desired.GetOwnerReferences())
	return object, err
}

// Put returns what Metacontroller sends to update a live child by DynamicApply.
func (a Asked) Put(live kube.Object) (kube.Object, error) {
	object := a.Desired.DeepCopy()
	object.SetOwnerReferences(nil)
	text, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	return mergeChild(live, nil, &desired{lastApplied: string(text), merged: object.Object})
}

func lastApplied(object kube.Object) (map[string]any, error) {
	text := kube.Annotation(object, metacontroller.LastAppliedAnnotation)
	if text == "" {
		return nil, nil
	}
	last, err := kube.ParseJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("can't unmarshal %q annotation: %w", metacontroller.LastAppliedAnnotation, err)
	}
	return last, nil
}
