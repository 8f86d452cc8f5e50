package simulation

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Invariants are those of one operator, besides those of all operators, that
// exploration checks whatever is late, lost or refused. The zero value adds
// none, and at rest nothing may depend on the history.
type Invariants struct {
	// History lists what may depend on the history once everything is at rest.
	History []History
	// Watch returns a function that is called after every write to the API
	// server. It returns which promise the write has broken, or "". Watch may
	// be nil.
	Watch func() func(Write) string
}

// History is a difference that is allowed between two custom resources with the
// same spec.
type History struct {
	// Kind is the kind of the children, or that of the custom resource itself,
	// which then may end Ready or Stalled where a new one would end otherwise:
	// it has done its work before it was suspended, for instance.
	Kind string
	// Names allows children to have other names; More and Fewer allow children
	// that a new custom resource would not have, and the lack of some that it
	// would have.
	Names, More, Fewer bool
	// Again allows a Pod or a Job to be made again under the name of one that the hook has let
	// go: one with a stable name is replaced when its template changes, or when it has ended.
	Again bool
	// Fields are paths that are not compared, such as spec.replicas.
	Fields []string
	// If limits the difference to some custom resources; nil means all.
	If func(parent *unstructured.Unstructured) bool
	// Reason says why the difference is right.
	Reason string
}

// HistoryOf returns the History that applies to a custom resource.
func (i Invariants) HistoryOf(parent *unstructured.Unstructured) []History {
	return slices.DeleteFunc(slices.Clone(i.History), func(h History) bool { return h.If != nil && !h.If(parent) })
}

// Write is a change of an object in an exploration. The objects are not to be modified.
type Write struct {
	// Before is nil where the object is new, and After where it is gone.
	Before, After *unstructured.Unstructured
	// By is "the hook" for Metacontroller, "Kubernetes", or a person.
	By string
	// Now is the time inside the simulation.
	Now time.Time
	// List returns the objects of a kind as they are after the write.
	List func(apiVersion, kind string) []*unstructured.Unstructured
	// Cached returns an object as Metacontroller's cache has it, or nil.
	Cached func(apiVersion, kind, namespace, name string) *unstructured.Unstructured
	// IsDesired reports whether the last answer for a custom resource contains a
	// child.
	IsDesired func(parent, child *unstructured.Unstructured) bool
}

// Object returns the object after the write, or before it if it was deleted.
func (w Write) Object() *unstructured.Unstructured {
	if w.After != nil {
		return w.After
	}
	return w.Before
}

// IsDeletion reports whether the write deletes an object, or marks it as being
// deleted.
func (w Write) IsDeletion() bool {
	return w.Before != nil && w.Before.GetDeletionTimestamp() == nil && (w.After == nil || w.After.GetDeletionTimestamp() != nil)
}

// Is reports whether an object of a kind has been written.
func (w Write) Is(kind string) bool { return w.Object().GetKind() == kind }
