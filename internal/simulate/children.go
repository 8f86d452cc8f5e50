package simulate

import (
	"bytes"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
)

// manage deletes the children that are not desired, then creates and updates
// the others. What goes wrong with one does not stop the rest.
func (p *player) manage(parent *unstructured.Unstructured, observed []*unstructured.Unstructured, desired []map[string]any) []error {
	wanted := map[key]*unstructured.Unstructured{}
	var order []key
	for _, content := range desired {
		child := &unstructured.Unstructured{Object: content}
		if child.GetNamespace() == "" {
			child.SetNamespace(parent.GetNamespace())
		}
		labels := child.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		if labels[uidLabel] == "" {
			labels[uidLabel] = string(parent.GetUID())
			child.SetLabels(labels)
		}
		wanted[keyOf(child)] = child
		order = append(order, keyOf(child))
	}
	live := map[key]*unstructured.Unstructured{}
	for _, child := range observed {
		live[keyOf(child)] = child
		if wanted[keyOf(child)] == nil {
			p.world.store.delete(keyOf(child), "the hook")
		}
	}
	var problems []error
	for _, k := range order {
		var err error
		if p.world.options.Apply == ServerSideApply {
			err = p.applyOnServer(parent, live[k], wanted[k])
		} else {
			err = p.apply(parent, live[k], wanted[k])
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}

// apply creates or merges a child by dynamic apply. An object that is in the
// way is passed over in silence.
func (p *player) apply(parent, live, desired *unstructured.Unstructured) error {
	if live == nil {
		child := desired.DeepCopy()
		setLastApplied(child, desired)
		child.SetOwnerReferences([]metav1.OwnerReference{ownerReference(parent)})
		if err := p.world.store.create(child, "the hook"); err != nil && !errors.Is(err, errExists) {
			return err
		}
		return nil
	}
	if live.GetDeletionTimestamp() != nil || p.method(desired) == metacontroller.OnDelete {
		return nil
	}
	applied := map[string]any{}
	if last := live.GetAnnotations()[metacontroller.LastAppliedAnnotation]; last != "" {
		if err := decode([]byte(last), &applied); err != nil {
			return fmt.Errorf("the last-applied annotation of %s cannot be read: %w", live.GetName(), err)
		}
	}
	next := merged(live, applied, desired)
	setLastApplied(next, desired)
	return p.world.store.update(next, "the hook")
}

// applyOnServer creates or merges a child by server-side apply, with force: an
// object without an owner that is in the way is taken over. What was applied is
// remembered here as Metacontroller does, and content is not compared.
func (p *player) applyOnServer(parent, live, desired *unstructured.Unstructured) error {
	k := keyOf(desired)
	if live == nil {
		live = p.world.store.get(k)
	}
	known := p.applied[k]
	wire := encode(desired.Object)
	if live == nil {
		child := desired.DeepCopy()
		child.SetOwnerReferences([]metav1.OwnerReference{ownerReference(parent)})
		setManagedFields(child, desired)
		if err := p.world.store.create(child, "the hook"); err != nil {
			return err
		}
	} else {
		if owner := metav1.GetControllerOfNoCopy(live); owner != nil && owner.UID != parent.GetUID() {
			return fmt.Errorf("%s/%s: only one reference can have Controller set to true", k.kind, k.name)
		}
		isOurs := metav1.GetControllerOfNoCopy(live) != nil
		if live.GetDeletionTimestamp() != nil || isOurs && p.method(desired) == metacontroller.OnDelete ||
			bytes.Equal(known.desired, wire) && known.state == ssaState(live) {
			return nil
		}
		next := merged(live, known.content, desired)
		next.SetOwnerReferences([]metav1.OwnerReference{ownerReference(parent)})
		setManagedFields(next, desired)
		if err := p.world.store.update(next, "the hook"); err != nil {
			return err
		}
	}
	p.applied[k] = ssaRecord{desired: wire, content: desired.DeepCopy().Object, state: ssaState(p.world.store.get(k))}
	return nil
}

// ssaState is what Metacontroller compares to see a change by others: the
// generation, or the resource version of a kind that has none.
func ssaState(o *unstructured.Unstructured) string {
	if o.GetGeneration() > 0 {
		return fmt.Sprintf("%s %d", o.GetUID(), o.GetGeneration())
	}
	return fmt.Sprintf("%s %s", o.GetUID(), o.GetResourceVersion())
}

// setManagedFields records the fields that are applied, down to lists.
func setManagedFields(o, desired *unstructured.Unstructured) {
	fields := fieldsOf(desired.Object)
	for _, name := range []string{"f:apiVersion", "f:kind"} {
		delete(fields, name)
	}
	metadata := o.Object["metadata"].(map[string]any)
	metadata["managedFields"] = []any{map[string]any{
		"manager": "metacontroller", "operation": "Apply", "apiVersion": o.GetAPIVersion(),
		"fieldsType": "FieldsV1", "fieldsV1": fields,
	}}
}

func fieldsOf(object map[string]any) map[string]any {
	fields := map[string]any{}
	for name, value := range object {
		inner, _ := value.(map[string]any)
		fields["f:"+name] = fieldsOf(inner)
	}
	return fields
}

func (p *player) method(child *unstructured.Unstructured) metacontroller.UpdateMethod {
	for _, declared := range p.controller.Children {
		if declared.Kind == child.GetKind() && declared.APIVersion == child.GetAPIVersion() {
			return declared.Update
		}
	}
	return metacontroller.OnDelete
}

// merged returns the live object with what is desired merged in, but for what
// is the API server's.
func merged(live *unstructured.Unstructured, applied map[string]any, desired *unstructured.Unstructured) *unstructured.Unstructured {
	content, _ := merge(live.DeepCopy().Object, applied, desired.DeepCopy().Object).(map[string]any)
	next := &unstructured.Unstructured{Object: content}
	metadata, before := content["metadata"].(map[string]any), live.Object["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "managedFields"} {
		if value, has := before[field]; has {
			metadata[field] = value
		} else {
			delete(metadata, field)
		}
	}
	return next
}

func setLastApplied(o, desired *unstructured.Unstructured) {
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[metacontroller.LastAppliedAnnotation] = string(encode(desired.Object))
	o.SetAnnotations(annotations)
}
