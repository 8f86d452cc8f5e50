package composite

import (
	"encoding/json"
	"fmt"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Memory is what simulations of the same operators need not compute twice. It is for one goroutine.
type Memory struct {
	kinds     *apiserver.Catalogue
	manifests map[string][]byte
	desired   map[answered]*desired
	applied   map[string]map[string]any // last-applied annotations, decoded
}

// mostDesired is how many children of answers are remembered, and keptDesired how many there may be
// when a simulation begins: one may have thousands of Pods, and a thousand simulations have not.
const (
	mostDesired = 20_000
	keptDesired = 500
)

// NewMemory returns an empty memory.
func NewMemory() *Memory {
	return &Memory{manifests: map[string][]byte{}, desired: map[answered]*desired{}, applied: map[string]map[string]any{}}
}

// Kinds returns the kinds that the API server knows.
func (m *Memory) Kinds(controllers []metacontroller.Controller) *apiserver.Catalogue {
	if m.kinds == nil {
		m.kinds = apiserver.NewCatalogue(controllers)
	}
	return m.kinds
}

// Forget forgets the children of answers, which a simulation that does not come back to a custom
// resource needs no more.
func (m *Memory) Forget() {
	clear(m.desired)
	clear(m.applied)
}

// begin makes room for what another simulation will need.
func (m *Memory) begin() {
	if len(m.desired) > keptDesired {
		m.Forget()
	}
}

type answered struct {
	owner kube.Ref
	uid   types.UID
	text  string
}

// desired is a child of an answer with what Metacontroller adds. It is never
// modified: an equal text is the same child.
type desired struct {
	ref    kube.Ref
	object kube.Object
	// refused says why its labels are refused.
	refused error
	// lastApplied is the annotation, merged the object that is merged into a live one.
	lastApplied string
	merged      map[string]any
	// applied is the body of a server-side apply, once it was sent, and text its JSON.
	applied *apiserver.Configuration
	text    string
}

func (m *Metacontroller) child(text json.RawMessage, parent kube.Object) (*desired, error) {
	owner, uid := kube.RefOf(parent), parent.GetUID()
	if known := m.memory.desired[answered{owner, uid, string(text)}]; known != nil {
		return known, nil
	}
	if string(text) == "null" {
		return nil, nil //nolint:nilnil // null is no child
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	if object.GetNamespace() == "" && !m.server.Kind(object.GetAPIVersion(), object.GetKind()).IsCluster {
		object.SetNamespace(owner.Namespace)
	}
	d := &desired{ref: kube.RefOf(object), object: object}
	d.refused = label(object, uid)
	last, err := json.Marshal(object.Object)
	if err != nil {
		return nil, fmt.Errorf("can't marshal last applied config: %w", err)
	}
	d.lastApplied, d.merged = string(last), object.Object
	if _, found := object.GetAnnotations()[metacontroller.LastAppliedAnnotation]; found {
		without := object.DeepCopy()
		unstructured.RemoveNestedField(without.Object, "metadata", "annotations", metacontroller.LastAppliedAnnotation)
		d.merged = without.Object
	}
	if len(m.memory.desired) >= mostDesired {
		m.memory.Forget()
	}
	m.memory.desired[answered{owner, uid, string(text)}] = d
	m.memory.applied[d.lastApplied] = object.Object
	return d, nil
}

func label(child kube.Object, owner types.UID) error {
	written, _, err := unstructured.NestedStringMap(child.Object, "metadata", "labels")
	if err != nil {
		return fmt.Errorf("invalid labels on desired child %s: %w", kube.RefOf(child), err)
	}
	switch written[SelectorLabel] {
	case "":
		child.SetLabels(labels.Merge(written, labels.Set{SelectorLabel: string(owner)}))
	case string(owner):
	default:
		return fmt.Errorf("labels on desired child %s don't match parent selector", kube.RefOf(child))
	}
	return nil
}

func (d *desired) created(parent kube.Object) kube.Object {
	child := kube.WithMetadata(d.object)
	kube.SetAnnotation(child, metacontroller.LastAppliedAnnotation, d.lastApplied)
	claim(child, parent)
	return child
}

func (d *desired) body(parent kube.Object) (*apiserver.Configuration, error) {
	if d.applied != nil {
		return d.applied, nil
	}
	body := d.object.DeepCopy()
	claim(body, parent)
	apiserver.DropServerSet(body)
	text, err := json.Marshal(body.Object)
	if err != nil {
		return nil, err
	}
	d.applied, d.text = &apiserver.Configuration{Object: body}, string(text)
	return d.applied, nil
}

func claim(child, parent kube.Object) {
	owners := child.GetOwnerReferences()
	if !kube.IsOwnedBy(child, parent) {
		child.SetOwnerReferences(append(owners, *metav1.NewControllerRef(parent, parent.GroupVersionKind())))
	}
}
