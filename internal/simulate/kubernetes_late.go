package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// queued returns what a built-in controller is to look at, in order.
func (k *kubernetes) queued() []Ref {
	var refs []Ref
	for ref := range k.queue {
		if k.isControlled(ref.Kind) {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, Ref.Compare)
	return refs
}

// look lets the controller of one object look at it, if it is queued.
func (k *kubernetes) look(ref Ref) bool {
	if _, queued := k.queue[ref]; !queued || k.server.Full() != nil {
		return false
	}
	delete(k.queue, ref)
	for _, controller := range k.controllers() {
		if controller.kind == ref.Kind {
			controller.reconcile(ref)
		}
	}
	return true
}

// wake queues what is due.
func (k *kubernetes) wake() {
	now := k.server.Now()
	for ref, due := range k.timers {
		if !due.After(now) {
			delete(k.timers, ref)
			k.enqueue(ref, k.steps)
		}
	}
}

// requeue makes every controller look at all that is its: what was refused
// before may not be any more.
func (k *kubernetes) requeue() {
	for _, object := range k.server.Objects() {
		if ref := RefOf(object); k.isControlled(ref.Kind) {
			k.enqueue(ref, k.steps)
		}
	}
}

// collectAll lets the garbage collector do what there is to do.
func (k *kubernetes) collectAll() bool {
	orphans := k.orphans
	k.orphans = nil
	k.collect(orphans)
	return k.letAllGo() || len(orphans) > 0
}

func hasCascade(object Object) bool {
	finalizers := object.GetFinalizers()
	return slices.Contains(finalizers, metav1.FinalizerOrphanDependents) || slices.Contains(finalizers, metav1.FinalizerDeleteDependents)
}

// letAllGo works on the owners that go last.
func (k *kubernetes) letAllGo() bool {
	refs := make([]Ref, 0, len(k.cascades))
	for ref := range k.cascades {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, Ref.Compare)
	for _, ref := range refs {
		if !k.letGo(ref) {
			delete(k.cascades, ref)
		}
	}
	return len(refs) > 0
}
