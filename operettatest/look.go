package operettatest

import (
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
)

// Get returns an object, which must not be modified, or nil.
func (w *World) Get(ref string) Object {
	for _, object := range w.world.Objects() {
		if named(object, ref) {
			return object
		}
	}
	return nil
}

// MustGet is [World.Get] for an object that must exist.
func (w *World) MustGet(ref string) Object {
	w.t.Helper()
	object := w.Get(ref)
	if object == nil {
		var names []string
		for _, other := range w.world.Objects() {
			names = append(names, other.GetKind()+"/"+other.GetName())
		}
		w.t.Fatalf("there is no %s; there are %q", ref, names)
	}
	return object
}

// Decode converts an object to its Go type.
func (w *World) Decode(ref string, into any) {
	w.t.Helper()
	require.NoError(w.t, runtime.DefaultUnstructuredConverter.FromUnstructured(w.MustGet(ref).Object, into))
}

// Objects returns all objects of a kind in the order of their names, or all
// objects if the kind is empty. They must not be modified.
func (w *World) Objects(kind string) []Object {
	return slices.DeleteFunc(slices.Clone(w.world.Objects()), func(object Object) bool {
		return kind != "" && object.GetKind() != kind
	})
}

// Names returns the names of the objects of a kind.
func (w *World) Names(kind string) []string {
	var names []string
	for _, object := range w.Objects(kind) {
		names = append(names, object.GetName())
	}
	return names
}

// Parents returns all custom resources, in the order of their names.
func (w *World) Parents() []Object {
	return slices.DeleteFunc(w.Objects(""), func(object Object) bool { return !w.world.IsOfParent(object) })
}

// Children returns the objects that custom resources own.
func (w *World) Children() []Object {
	return slices.DeleteFunc(w.Objects(""), func(object Object) bool { return !w.world.IsChild(object) })
}

// Condition is a condition of an object. It is empty if there is none.
type Condition struct {
	// Status is True, False or Unknown.
	Status, Reason, Message string
}

// String returns status and reason, as in "False Starting".
func (c Condition) String() string {
	if c.Reason == "" {
		return c.Status
	}
	return c.Status + " " + c.Reason
}

// ConditionOf returns the condition of a type of an object.
func ConditionOf(object Object, conditionType string) Condition {
	c := kube.ConditionOf(object, conditionType)
	return Condition{c.Status, c.Reason, c.Message}
}

// Condition returns the condition of a type of an object in the cluster.
func (w *World) Condition(ref, conditionType string) Condition {
	w.t.Helper()
	return ConditionOf(w.MustGet(ref), conditionType)
}

// Failure returns why the last sync of a custom resource failed, or "": its
// hook returned an error, or the API server refused a child.
func (w *World) Failure(ref string) string {
	w.t.Helper()
	for _, outcome := range w.world.Outcomes() {
		if named(outcome.Parent, ref) {
			return outcome.Failure
		}
	}
	w.t.Fatalf("there is no custom resource %s", ref)
	return ""
}

// RequireCondition fails the test unless a condition has this status and
// reason, as in "True Ready".
func (w *World) RequireCondition(ref, conditionType, want string) {
	w.t.Helper()
	if got := w.Condition(ref, conditionType); got.String() != want {
		w.t.Fatalf("%s of %s is %q, and %q is wanted: %s", conditionType, ref, got, want, got.Message)
	}
}

// RequireGone fails the test if a custom resource or a child still exists.
func (w *World) RequireGone() {
	w.t.Helper()
	for _, object := range append(w.Parents(), w.Children()...) {
		w.t.Errorf("%s/%s is left behind", object.GetKind(), object.GetName())
	}
}
