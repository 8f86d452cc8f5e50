package controllers

import (
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
)

// podWatch is the built-in controllers' cache of Pods, fed by a late watch.
// They know their own changes at once: each real controller tracks what it has
// created and deleted until the watch delivers it (expectations).
type podWatch struct {
	*apiserver.Cache

	pending []apiserver.Write
}

// note appends a change of a Pod to the undelivered ones, or applies it if a
// controller has made it. Kubelets know all Pods of their node.
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

// HasNews reports whether there are undelivered changes of Pods.
func (b *Builtin) HasNews() bool { return b.pods != nil && len(b.pods.pending) > 0 }

// HearOfPod delivers the next change of a Pod, and reports whether there was one.
func (b *Builtin) HearOfPod() bool {
	if !b.HasNews() {
		return false
	}
	heard := b.pods.Hear(b.pods.pending[0])
	b.pods.pending = b.pods.pending[1:]
	b.enqueueOwners(heard.Before, heard.After)
	return true
}

// HearOfPods delivers all changes, and reports whether there were any.
func (b *Builtin) HearOfPods() bool {
	done := false
	for b.HearOfPod() {
		done = true
	}
	return done
}

func (b *Builtin) ownedPods(owner types.UID) []kube.Object {
	if b.pods != nil {
		return b.pods.OwnedBy(owner)
	}
	return b.server.OwnedBy(owner)
}
