package simulate

import (
	"errors"
	"slices"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// Answer is what a sync or finalize hook has answered.
type Answer struct {
	// Parent is the custom resource.
	Parent Ref
	// Children are those that are asked for, in the order of the answer.
	Children []Ref
}

// Refusal is a child that could not be created or updated.
type Refusal struct {
	// Parent is the custom resource, Child what was asked for.
	Parent, Child Ref
	// Err is what the API server says.
	Err error
}

// Watch calls functions at each write, at each answer and at each refusal of a
// child. Any of them may be nil.
func (w *World) Watch(write func(Write), answer func(Answer), refusal func(Refusal)) {
	if write != nil {
		w.server.Watch(write)
	}
	if answer != nil {
		w.composite.answered = func(p *parent, r *response) {
			a := Answer{Parent: p.ref}
			for _, child := range r.Children {
				a.Children = append(a.Children, RefOf(child))
			}
			answer(a)
		}
	}
	if refusal != nil {
		w.composite.refused = func(p *parent, child Ref, err error) { refusal(Refusal{p.ref, child, err}) }
	}
}

// IsCaughtUp reports whether Metacontroller has heard of all and has synced
// whatever that concerns, without a failure.
func (w *World) IsCaughtUp() bool {
	for _, p := range w.composite.parents {
		if p.failure != "" {
			return false
		}
	}
	return !w.composite.isBusy()
}

// Syncs returns how often hooks have been called.
func (w *World) Syncs() int {
	calls := 0
	for _, p := range w.composite.parents {
		calls += p.calls
	}
	return calls
}

// Selected returns the objects that the customize hook of a custom resource has
// selected, as they are in the API server. They are not to be modified.
func (w *World) Selected(parent Object) []Object {
	p := w.composite.parents[RefOf(parent)]
	return slices.DeleteFunc(w.Objects(), func(object Object) bool { return p == nil || !w.composite.selects(p, object) })
}

// Owned returns the objects that a custom resource controls, in the order of
// kinds and names. They are not to be modified.
func (w *World) Owned(parent Object) []Object {
	var list []Object
	for _, object := range w.server.OwnedBy(parent.GetUID()) {
		if apiserver.ControllerUID(object) == parent.GetUID() {
			list = append(list, object)
		}
	}
	return list
}

// Parents returns the custom resources there are, in the order of their names.
func (w *World) Parents() []Object {
	var list []Object
	for _, p := range w.composite.ordered() {
		if object := w.server.Get(p.ref); object != nil {
			list = append(list, object)
		}
	}
	return list
}

// List returns the objects of a kind in the order of their names. They are not to
// be modified.
func (w *World) List(apiVersion, kind string) []Object { return w.server.List(apiVersion, kind) }

// Heard returns an object as Metacontroller knows it, or nil.
func (w *World) Heard(ref Ref) Object { return w.composite.cache.Get(ref) }

// IsInjected reports whether an error was made to happen by an [Action].
func IsInjected(err error) bool { return errors.Is(err, errInjected) }
