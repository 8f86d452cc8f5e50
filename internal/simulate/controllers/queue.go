package controllers

import (
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// Queued returns the queued objects, in the order of kinds and names.
func (b *Builtin) Queued() []apiserver.Ref {
	refs := slices.SortedFunc(maps.Keys(b.queue), apiserver.Ref.Compare)
	return slices.DeleteFunc(refs, func(ref apiserver.Ref) bool { return !b.isControlled(ref) })
}

// Reconcile reconciles one object, and reports whether it was queued.
func (b *Builtin) Reconcile(ref apiserver.Ref) bool {
	if _, queued := b.queue[ref]; !queued || b.server.Full() != nil {
		return false
	}
	delete(b.queue, ref)
	for _, controller := range b.controllers {
		if ref.Is(controller.kind) {
			controller.reconcile(ref)
		}
	}
	return true
}

// Wake queues what is due now.
func (b *Builtin) Wake() {
	now := b.server.Now()
	for ref, due := range b.timers {
		if !due.After(now) {
			delete(b.timers, ref)
			b.enqueue(ref, b.steps)
		}
	}
}

// CheckAll queues all objects: what was refused before may be accepted now.
func (b *Builtin) CheckAll() {
	for _, object := range b.server.Objects() {
		if ref := apiserver.RefOf(object); b.isControlled(ref) {
			b.enqueue(ref, b.steps)
		}
	}
}
