package simulate

import (
	"cmp"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// create is Apply of what is not there yet, unless it is a custom resource: that
// may be there still.
func (w *World) create(text []byte) error {
	object, err := ParseObject(text)
	if err != nil {
		return err
	}
	object.SetNamespace(cmp.Or(object.GetNamespace(), metav1.NamespaceDefault))
	if ref := RefOf(object); w.store.get(ref) != nil && !w.isParentKind(ref) {
		return apierrors.NewAlreadyExists(w.store.kinds.of(ref.APIVersion, ref.Kind).groupResource(), ref.Name)
	}
	return w.Apply(text)
}

// edit changes an object by a merge patch (RFC 7386).
func (w *World) edit(ref Ref, patch string) error {
	live := w.store.get(ref)
	if live == nil {
		return apierrors.NewNotFound(w.store.kinds.of(ref.APIVersion, ref.Kind).groupResource(), ref.Name)
	}
	changes, err := parseJSON([]byte(patch))
	if err != nil {
		return fmt.Errorf("the patch is no JSON object: %w", err)
	}
	object := (&unstructured.Unstructured{Object: MergePatch(live.Object, changes)}).DeepCopy()
	unstructured.RemoveNestedField(object.Object, "metadata", "resourceVersion")
	_, err = w.store.update(byUser, object)
	return err
}

// MergePatch returns an object with a merge patch applied. Neither is changed, and
// the result shares what the patch does not touch.
func MergePatch(object, patch map[string]any) map[string]any {
	result := map[string]any{}
	for key, value := range object {
		result[key] = value
	}
	for key, value := range patch {
		fields, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(result, key)
		case isMap:
			old, _ := result[key].(map[string]any)
			result[key] = MergePatch(old, fields)
		default:
			result[key] = runtime.DeepCopyJSONValue(value)
		}
	}
	return result
}

// cascades are the ways of deletion in which the owner goes last, by the word
// that kubectl has for them.
var cascades = map[string]string{
	"orphan": metav1.FinalizerOrphanDependents, "foreground": metav1.FinalizerDeleteDependents,
}

// deleteCascading deletes an object. Without a cascade, what it owns goes after it.
func (s *store) deleteCascading(by actor, ref Ref, cascade string) error {
	old := s.get(ref)
	if finalizer := cascades[cascade]; finalizer != "" && old != nil && old.GetDeletionTimestamp() == nil {
		held := shallow(old)
		held.Object["metadata"] = runtime.DeepCopyJSONValue(held.Object["metadata"])
		held.SetFinalizers(append(held.GetFinalizers(), finalizer))
		s.put(by, ref, held, old)
	}
	return s.delete(by, ref, "")
}

// letGo does what the garbage collector does before an owner goes: it deletes
// what it owns, or takes it off. It reports whether there is more to do.
func (k *kubernetes) letGo(ref Ref) bool {
	owner := k.store.get(ref)
	if owner == nil {
		return false
	}
	isOrphaning := slices.Contains(owner.GetFinalizers(), metav1.FinalizerOrphanDependents)
	left := false
	for _, object := range k.store.ownedBy(owner.GetUID()) {
		if isOrphaning {
			k.takeOff(object, owner.GetUID())
			continue
		}
		left = true
		_ = k.store.delete(byKubernetes, RefOf(object), object.GetUID()) // it was there a moment ago
	}
	if left && len(k.store.ownedBy(owner.GetUID())) > 0 {
		return true
	}
	freed := k.store.get(ref).DeepCopy()
	finalizers := slices.DeleteFunc(freed.GetFinalizers(), func(name string) bool {
		return name == metav1.FinalizerOrphanDependents || name == metav1.FinalizerDeleteDependents
	})
	freed.SetFinalizers(finalizers)
	_, _ = k.store.replace(byKubernetes, ref, freed, k.store.get(ref)) // it was there a moment ago
	return false
}

// takeOff takes an owner off an object.
func (k *kubernetes) takeOff(object Object, uid types.UID) {
	freed := object.DeepCopy()
	owners := slices.DeleteFunc(freed.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == uid })
	freed.SetOwnerReferences(owners)
	if len(owners) == 0 {
		unstructured.RemoveNestedField(freed.Object, "metadata", "ownerReferences")
	}
	_, _ = k.store.update(byKubernetes, freed) // fewer owners are never refused
}

// mend ends all that lasts: nobody fails and nothing is refused any more.
func (w *World) mend() {
	w.faults.list = nil
	w.store.quota = nil
	for _, p := range w.composite.parents {
		p.idle = 0 // it is worth trying again
	}
	w.kubernetes.enqueuePods()
	w.kubernetes.requeue()
}

// add adds a fault that strikes now.
func (f *faults) add(fault Fault) *trouble {
	t := &trouble{Fault: fault, left: 1}
	f.list = append(f.list, t)
	return t
}
