package controllers

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// podWatch is what the built-in controllers have heard of Pods, by one watch that
// is late. What they have done themselves they know at once: each of the real ones
// remembers what it has made and deleted until it hears of that.
type podWatch struct {
	*apiserver.Cache

	pending []apiserver.Write
}

// note puts a change of a Pod behind those that wait for their delivery, or hears
// of it where a controller has made it. A kubelet takes Pods away that go, and
// reports on all.
func (p *podWatch) note(w apiserver.Write) {
	if w.Ref.Kind != "Pod" || w.Ref.APIVersion != "v1" {
		return
	}
	went := w.Before != nil && w.Before.GetDeletionTimestamp() != nil
	goes := w.After == nil || w.After.GetDeletionTimestamp() != nil
	if w.By == apiserver.ByKubernetes && (w.Before == nil || goes && !went) {
		p.pending = slices.DeleteFunc(p.pending, func(old apiserver.Write) bool { return old.Ref == w.Ref })
		p.Hear(w)
		return
	}
	p.pending = append(p.pending, w)
}

// HasNews reports whether there are changes of Pods to hear of.
func (b *Builtin) HasNews() bool { return b.pods != nil && len(b.pods.pending) > 0 }

// HearOfPod tells the controllers the next change of a Pod, and reports whether there
// was one.
func (b *Builtin) HearOfPod() bool {
	if !b.HasNews() {
		return false
	}
	heard := b.pods.Hear(b.pods.pending[0])
	b.pods.pending = b.pods.pending[1:]
	b.enqueueOwners(heard.Before, heard.After)
	return true
}

// HearOfPods tells them all changes, and reports whether there were any.
func (b *Builtin) HearOfPods() bool {
	done := false
	for b.HearOfPod() {
		done = true
	}
	return done
}

// ownedPods returns the Pods that have an owner, as its controller knows them.
func (b *Builtin) ownedPods(owner types.UID) []apiserver.Object {
	if b.pods != nil {
		return b.pods.OwnedBy(owner)
	}
	return b.server.OwnedBy(owner)
}
