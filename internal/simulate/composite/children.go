package composite

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// manage deletes the observed children that are not desired, then creates and
// updates the desired ones. A failure of one does not stop the others.
func (m *Metacontroller) manage(p *Parent, object apiserver.Object, observed []group, desired []apiserver.Object) error {
	wanted := map[apiserver.Ref]apiserver.Object{}
	for _, child := range desired {
		wanted[apiserver.RefOf(child)] = child // the last duplicate counts
	}
	live := map[apiserver.Ref]apiserver.Object{}
	var failures []error
	for _, g := range observed {
		for _, child := range g.objects {
			ref := apiserver.RefOf(child)
			live[ref] = child
			if wanted[ref] != nil || child.GetDeletionTimestamp() != nil {
				continue
			}
			_, err := m.send(false, func() (apiserver.Object, error) {
				return nil, m.server.Delete(apiserver.ByHook, ref, child.GetUID())
			})
			if err != nil && !apierrors.IsNotFound(err) {
				failures = append(failures, fmt.Errorf("can't delete %s: %w", ref, err))
			}
			delete(m.applied, ref)
			delete(m.merged, ref)
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(wanted), apiserver.Ref.Compare) {
		if err := m.apply(p, object, live[ref], wanted[ref]); err != nil {
			m.refused(Refusal{p.Ref, ref, err})
			failures = append(failures, err)
		}
		if m.server.Full() != nil {
			break
		}
	}
	return errors.Join(failures...)
}

// apply creates or updates one child with the strategy of this installation.
func (m *Metacontroller) apply(p *Parent, object, live, desired apiserver.Object) error {
	if live != nil && live.GetDeletionTimestamp() != nil {
		return nil // it can only be created again when it is gone
	}
	if m.options.Apply == ServerSideApply {
		return m.applyOnServer(p, object, live, desired)
	}
	if live == nil {
		return m.create(p, object, desired)
	}
	ref := apiserver.RefOf(live)
	if last := m.merged[ref]; last.live == live && reflect.DeepEqual(last.desired.Object, desired.Object) {
		return nil // objects are never modified, so the result of the merge is the same
	}
	merged, err := mergeChild(live, desired)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(merged.Object, live.Object) || p.updateMethod(ref) != metacontroller.InPlace {
		m.merged[ref] = mergedChild{live, desired}
		return nil
	}
	_, err = m.sendUpdate(merged)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// mergedChild is a live child that needed no update.
type mergedChild struct{ live, desired apiserver.Object }

// create creates a child. If the name is taken, it silently gives up.
func (m *Metacontroller) create(p *Parent, object, desired apiserver.Object) error {
	child := desired.DeepCopy()
	if err := setLastApplied(child, desired); err != nil {
		return err
	}
	claim(child, object)
	err := m.sendCreate(child)
	if apierrors.IsAlreadyExists(err) {
		m.refused(Refusal{p.Ref, apiserver.RefOf(desired), err})
		m.requests-- // it changes nothing, however often it is sent
		return nil
	}
	return err
}

// mergeChild returns the update of a live child.
func mergeChild(live, desired apiserver.Object) (apiserver.Object, error) {
	desired = desired.DeepCopy()
	unstructured.RemoveNestedField(desired.Object, "metadata", "annotations", metacontroller.LastAppliedAnnotation)
	last, err := lastApplied(live)
	if err != nil {
		return nil, err
	}
	merged := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(live.Object)}
	MergeObject(merged.Object, last, desired.Object)
	apiserver.KeepServerSet(merged, live)
	return merged, setLastApplied(merged, desired)
}

func setLastApplied(child, desired apiserver.Object) error {
	text, err := json.Marshal(desired.Object)
	if err != nil {
		return fmt.Errorf("can't marshal last applied config: %w", err)
	}
	apiserver.SetAnnotation(child, metacontroller.LastAppliedAnnotation, string(text))
	return nil
}

// claim makes the parent the child's controller.
func claim(child, parent apiserver.Object) {
	owners := child.GetOwnerReferences()
	if !apiserver.IsOwnedBy(child, parent) {
		child.SetOwnerReferences(append(owners, *metav1.NewControllerRef(parent, parent.GroupVersionKind())))
	}
}
