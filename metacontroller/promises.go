package metacontroller

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Promises are what an operator keeps to whatever is late, lost or refused, beyond
// what holds for all operators: exploration holds it to them. The zero value promises
// nothing, and at rest nothing shows what has been before.
type Promises struct {
	// History says what of its rest may show what has been before.
	History []History
	// Watch returns a function that is called after every write to the API
	// server. It says which promise the write has broken, or nothing. It may be nil.
	Watch func() func(Write) string
}

// History is something that two custom resources with the same spec need not have
// in common.
type History struct {
	// Kind is that of the children, or that of the custom resource itself, which
	// then may end Ready where a new one would end Stalled, or the other way round.
	Kind string
	// Names is set where children have other names, More and Fewer where there may
	// be children that a new custom resource would not have, or would have.
	Names, More, Fewer bool
	// Fields are paths that are not compared, as in spec.replicas.
	Fields []string
	// Reason says why that is as it should be.
	Reason string
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
	// Heard returns an object as Metacontroller knows it, or nil.
	Heard func(apiVersion, kind, namespace, name string) *unstructured.Unstructured
	// IsAsked reports whether the last answer for a custom resource names a child.
	IsAsked func(parent, child *unstructured.Unstructured) bool
}

// Object returns the object that has been written, as it is or was.
func (w Write) Object() *unstructured.Unstructured {
	if w.After != nil {
		return w.After
	}
	return w.Before
}

// IsDeletion reports whether an object has been deleted that was not being deleted.
func (w Write) IsDeletion() bool {
	return w.Before != nil && w.Before.GetDeletionTimestamp() == nil && (w.After == nil || w.After.GetDeletionTimestamp() != nil)
}

// Is reports whether an object of a kind has been written.
func (w Write) Is(kind string) bool { return w.Object().GetKind() == kind }
