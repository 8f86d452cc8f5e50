package controllers

import (
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
)

func (b *Builtin) collect(gone []types.UID) {
	for _, uid := range gone {
		for _, object := range b.server.OwnedBy(uid) {
			b.deleteUnowned(object)
		}
	}
}

// deleteUnowned deletes an object without living owners. If another owner
// lives, it only removes the references to deleted ones.
func (b *Builtin) deleteUnowned(object kube.Object) {
	left := kube.KeepOwners(object, func(owner metav1.OwnerReference) bool { return b.isAlive(object, owner) })
	if len(left.GetOwnerReferences()) == 0 {
		b.delete(object)
		return
	}
	_, _ = b.server.Update(apiserver.ByKubernetes, left) // removing owners is never refused
}

// isAlive reports whether an owner exists: in the object's namespace, or cluster-scoped. An owner
// that lives in a namespace counts as alive for a cluster-scoped object, which the garbage
// collector never deletes then (namespacedOwnerOfClusterScopedObjectErr in k8s.io/kubernetes).
func (b *Builtin) isAlive(object kube.Object, owner metav1.OwnerReference) bool {
	if object.GetNamespace() == "" && !b.server.Kind(owner.APIVersion, owner.Kind).IsCluster {
		return true
	}
	for _, namespace := range []string{object.GetNamespace(), ""} {
		found := b.server.Get(kube.Ref{APIVersion: owner.APIVersion, Kind: owner.Kind, Namespace: namespace, Name: owner.Name})
		if found != nil && found.GetUID() == owner.UID {
			return true
		}
	}
	return false
}

// noteMissingOwner records an object whose owner is deleted already, or never
// existed in its namespace.
func (b *Builtin) noteMissingOwner(object kube.Object) {
	if len(kube.Owners(object)) == 0 {
		return
	}
	for _, owner := range object.GetOwnerReferences() {
		if !b.isAlive(object, owner) && !slices.Contains(b.orphans, owner.UID) {
			b.orphans = append(b.orphans, owner.UID)
		}
	}
}

// HasGarbage reports whether the garbage collector has work.
func (b *Builtin) HasGarbage() bool { return len(b.orphans) > 0 || len(b.cascades) > 0 }

// Collect runs the garbage collector, and reports whether it had work.
func (b *Builtin) Collect() bool {
	orphans := b.orphans
	b.orphans = nil
	b.collect(orphans)
	return b.finishCascades() || len(orphans) > 0
}

func isCascade(finalizer string) bool {
	return finalizer == metav1.FinalizerOrphanDependents || finalizer == metav1.FinalizerDeleteDependents
}

func hasCascade(object kube.Object) bool {
	return slices.ContainsFunc(object.GetFinalizers(), isCascade)
}

func (b *Builtin) finishCascades() bool {
	refs := slices.SortedFunc(maps.Keys(b.cascades), kube.Ref.Compare)
	for _, ref := range refs {
		if !b.finishCascade(ref) {
			delete(b.cascades, ref)
		}
	}
	return len(refs) > 0
}

func (b *Builtin) finishCascade(ref kube.Ref) bool {
	owner := b.server.Get(ref)
	if owner == nil {
		return false
	}
	isOrphaning := slices.Contains(owner.GetFinalizers(), metav1.FinalizerOrphanDependents)
	left := false
	for _, object := range b.server.OwnedBy(owner.GetUID()) {
		if isOrphaning {
			left := kube.KeepOwners(object, func(o metav1.OwnerReference) bool { return o.UID != owner.GetUID() })
			_, _ = b.server.Update(apiserver.ByKubernetes, left) // removing owners is never refused
			continue
		}
		left = true
		b.delete(object)
	}
	if left && len(b.server.OwnedBy(owner.GetUID())) > 0 {
		return true
	}
	freed := kube.WithMetadata(b.server.Get(ref))
	freed.SetFinalizers(slices.DeleteFunc(freed.GetFinalizers(), isCascade))
	b.server.Replace(apiserver.ByKubernetes, freed)
	return false
}
