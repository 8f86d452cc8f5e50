package simulate

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

// hearOfPod tells the built-in controllers the next change of a Pod, if there is
// one.
func (k *kubernetes) hearOfPod() bool {
	if k.pods == nil || len(k.pods.pending) == 0 {
		return false
	}
	heard := k.pods.Hear(k.pods.pending[0])
	k.pods.pending = k.pods.pending[1:]
	k.enqueueOwners(heard.Before, heard.After)
	return true
}

// hearOfPods tells them all.
func (k *kubernetes) hearOfPods() bool {
	done := false
	for k.hearOfPod() {
		done = true
	}
	return done
}

// ownedPods returns the Pods that have an owner, as its controller knows them.
func (k *kubernetes) ownedPods(owner types.UID) []Object {
	if k.pods != nil {
		return k.pods.OwnedBy(owner)
	}
	return k.server.OwnedBy(owner)
}
