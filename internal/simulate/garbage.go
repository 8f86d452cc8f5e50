package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// collect deletes what belonged to owners that are gone.
func (k *kubernetes) collect(gone []types.UID) {
	for _, uid := range gone {
		for _, object := range k.store.ownedBy(uid) {
			k.disown(object)
		}
	}
}

// disown deletes an object without living owners. One that has another loses
// the references to those that are gone.
func (k *kubernetes) disown(object Object) {
	owners := slices.DeleteFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return !k.isAlive(object, owner)
	})
	if len(owners) == 0 {
		_ = k.store.delete(byKubernetes, RefOf(object), object.GetUID()) // it was there a moment ago
		return
	}
	kept := object.DeepCopy()
	unstructured.RemoveNestedField(kept.Object, "metadata", "ownerReferences")
	kept.SetOwnerReferences(owners)
	_, _ = k.store.update(byKubernetes, kept) // fewer owners are never refused
}

// isAlive reports whether an owner exists: in the object's own namespace, or
// outside of all.
func (k *kubernetes) isAlive(object Object, owner metav1.OwnerReference) bool {
	for _, namespace := range []string{object.GetNamespace(), ""} {
		found := k.store.get(Ref{owner.APIVersion, owner.Kind, namespace, owner.Name})
		if found != nil && found.GetUID() == owner.UID {
			return true
		}
	}
	return false
}

// findLostOwner notes an object whose owner is gone already, or never was in
// its namespace.
func (k *kubernetes) findLostOwner(object Object) {
	for _, owner := range object.GetOwnerReferences() {
		if !k.isAlive(object, owner) && !slices.Contains(k.orphans, owner.UID) {
			k.orphans = append(k.orphans, owner.UID)
		}
	}
}
