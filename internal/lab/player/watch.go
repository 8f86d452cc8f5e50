package player

import (
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
)

// Watch calls functions at each write, at each answer and at each refusal of a
// child. They may be nil.
func (w *World) Watch(write func(Write), answer func(Answer), refusal func(Refusal)) {
	if write != nil {
		w.server.Watch(write)
	}
	w.composite.Watch(answer, refusal)
}

// IsCaughtUp reports whether Metacontroller's cache is current and all syncs
// are done, without a failure.
func (w *World) IsCaughtUp() bool {
	for _, p := range w.composite.Parents() {
		if p.Failure != "" || p.HasMissed {
			return false
		}
	}
	return !w.composite.IsBusy()
}

// Syncs returns how often hooks have been called.
func (w *World) Syncs() int {
	calls := 0
	for _, p := range w.composite.Parents() {
		calls += p.Calls
	}
	return calls
}

// Selected returns the objects that the customize hook of a custom resource has
// selected, as they are in the API server. They are not to be modified.
func (w *World) Selected(parent kube.Object) []kube.Object {
	return slices.DeleteFunc(w.Objects(), func(object kube.Object) bool { return !w.composite.Selects(kube.RefOf(parent), object) })
}

// Owned returns the objects that a custom resource controls, in the order of
// kinds and names. They are not to be modified.
func (w *World) Owned(parent kube.Object) []kube.Object {
	var list []kube.Object
	for _, object := range w.server.OwnedBy(parent.GetUID()) {
		if kube.ControllerUID(object) == parent.GetUID() {
			list = append(list, object)
		}
	}
	return list
}

// Parents returns the custom resources there are, in the order of their names.
func (w *World) Parents() []kube.Object {
	var list []kube.Object
	for _, p := range w.composite.Parents() {
		if object := w.server.Get(p.Ref); object != nil {
			list = append(list, object)
		}
	}
	return list
}

// List returns the objects of a kind in the order of their names. They are not to be modified.
func (w *World) List(apiVersion, kind string) []kube.Object { return w.server.List(apiVersion, kind) }

// Heard returns an object as Metacontroller's cache has it, or nil.
func (w *World) Heard(ref kube.Ref) kube.Object { return w.composite.Heard(ref) }

// IsInjected reports whether an error was injected by an [Action].
func IsInjected(err error) bool { return composite.IsInjected(err) }

// Ask registers a function that is called for each child that Metacontroller
// sends, before the API server handles it. An error of the function is returned
// as a refusal. The World must use DynamicApply.
func (w *World) Ask(tell func(Asked) error) { w.composite.Ask(tell) }

func (w *World) unheard() string {
	var parts []string
	for _, kind := range w.composite.PendingKinds() {
		words := map[kube.Ref]string{}
		var refs []kube.Ref
		for _, write := range w.composite.Pending(kind) {
			if words[write.Ref] == "" {
				refs = append(refs, write.Ref)
			}
			words[write.Ref] = staleness(w.composite.Heard(write.Ref), write.After)
		}
		for _, ref := range refs {
			parts = append(parts, ref.String()+" "+words[ref])
		}
	}
	return strings.Join(few(parts, 4), ", ")
}

func staleness(known, now kube.Object) string {
	switch {
	case now == nil:
		return "is gone"
	case known == nil:
		return "exists"
	case known.GetUID() != now.GetUID():
		return "is another one"
	case known.GetDeletionTimestamp() == nil && now.GetDeletionTimestamp() != nil:
		return "is being deleted"
	case known.GetGeneration() != now.GetGeneration():
		return "has another spec"
	}
	if progress := kube.Progress(now); progress != "" && progress != kube.Progress(known) {
		return "is " + progress
	}
	return "has changed"
}
