package controllers

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// collect deletes what belonged to owners that are gone.
func (b *Builtin) collect(gone []types.UID) {
	for _, uid := range gone {
		for _, object := range b.server.OwnedBy(uid) {
			b.disown(object)
		}
	}
}

// disown deletes an object without living owners. One that has another loses
// the references to those that are gone.
func (b *Builtin) disown(object apiserver.Object) {
	owners := slices.DeleteFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return !b.isAlive(object, owner)
	})
	if len(owners) == 0 {
		_ = b.server.Delete(apiserver.ByKubernetes, apiserver.RefOf(object), object.GetUID()) // it was there a moment ago
		return
	}
	kept := object.DeepCopy()
	unstructured.RemoveNestedField(kept.Object, "metadata", "ownerReferences")
	kept.SetOwnerReferences(owners)
	_, _ = b.server.Update(apiserver.ByKubernetes, kept) // fewer owners are never refused
}

// isAlive reports whether an owner exists: in the object's own namespace, or
// outside of all.
func (b *Builtin) isAlive(object apiserver.Object, owner metav1.OwnerReference) bool {
	for _, namespace := range []string{object.GetNamespace(), ""} {
		found := b.server.Get(apiserver.Ref{APIVersion: owner.APIVersion, Kind: owner.Kind, Namespace: namespace, Name: owner.Name})
		if found != nil && found.GetUID() == owner.UID {
			return true
		}
	}
	return false
}

// findLostOwner notes an object whose owner is gone already, or never was in
// its namespace.
func (b *Builtin) findLostOwner(object apiserver.Object) {
	for _, owner := range object.GetOwnerReferences() {
		if !b.isAlive(object, owner) && !slices.Contains(b.orphans, owner.UID) {
			b.orphans = append(b.orphans, owner.UID)
		}
	}
}

// letGo does what the garbage collector does before an owner goes: it deletes
// what it owns, or takes it off. It reports whether there is more to do.
func (b *Builtin) letGo(ref apiserver.Ref) bool {
	owner := b.server.Get(ref)
	if owner == nil {
		return false
	}
	isOrphaning := slices.Contains(owner.GetFinalizers(), metav1.FinalizerOrphanDependents)
	left := false
	for _, object := range b.server.OwnedBy(owner.GetUID()) {
		if isOrphaning {
			b.takeOff(object, owner.GetUID())
			continue
		}
		left = true
		_ = b.server.Delete(apiserver.ByKubernetes, apiserver.RefOf(object), object.GetUID()) // it was there a moment ago
	}
	if left && len(b.server.OwnedBy(owner.GetUID())) > 0 {
		return true
	}
	freed := b.server.Get(ref).DeepCopy()
	finalizers := slices.DeleteFunc(freed.GetFinalizers(), func(name string) bool {
		return name == metav1.FinalizerOrphanDependents || name == metav1.FinalizerDeleteDependents
	})
	freed.SetFinalizers(finalizers)
	b.server.Replace(apiserver.ByKubernetes, freed)
	return false
}

// takeOff takes an owner off an object.
func (b *Builtin) takeOff(object apiserver.Object, uid types.UID) {
	freed := object.DeepCopy()
	owners := slices.DeleteFunc(freed.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == uid })
	freed.SetOwnerReferences(owners)
	if len(owners) == 0 {
		unstructured.RemoveNestedField(freed.Object, "metadata", "ownerReferences")
	}
	_, _ = b.server.Update(apiserver.ByKubernetes, freed) // fewer owners are never refused
}
