package simulate

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// selectorLabel is what Metacontroller selects children by where it generates
// the selector.
const selectorLabel = "controller-uid"

// claimChildren returns the parent's children, each declared kind as a group. A
// child that has lost the label is released, one without an owner that has it
// is adopted. The request shows an adopted one as it was before.
func (m *composite) claimChildren(p *parent, object Object) ([]group, error) {
	groups := make([]group, len(p.controller.Children))
	for i, child := range p.controller.Children {
		groups[i].kind = m.store.kinds.of(child.APIVersion, child.Kind)
	}
	deleting := object.GetDeletionTimestamp() != nil
	for _, child := range m.store.ownedBy(object.GetUID()) {
		g := groupOf(groups, child)
		if g == nil || ownerUID(child) != object.GetUID() {
			continue
		}
		if child.GetLabels()[selectorLabel] == string(object.GetUID()) {
			g.objects = append(g.objects, child)
			continue
		}
		if !deleting {
			if err := m.release(child, object); err != nil {
				return nil, err
			}
		}
	}
	if deleting {
		return groups, nil
	}
	for _, orphan := range m.store.orphans(object.GetUID()) {
		g := groupOf(groups, orphan)
		if g == nil || orphan.GetNamespace() != object.GetNamespace() || orphan.GetDeletionTimestamp() != nil {
			continue
		}
		g.objects = append(g.objects, orphan)
		adopted := orphan.DeepCopy()
		claim(adopted, object)
		m.requests++
		if _, err := m.store.update(byHook, adopted); err != nil {
			return nil, fmt.Errorf("can't adopt %s: %w", RefOf(orphan), err)
		}
		slices.SortFunc(g.objects, func(a, b Object) int { return RefOf(a).compare(RefOf(b)) })
	}
	return groups, nil
}

// groupOf returns the group of an object's kind, or nil.
func groupOf(groups []group, object Object) *group {
	for i := range groups {
		if groups[i].kind.APIVersion == object.GetAPIVersion() && groups[i].kind.Kind == object.GetKind() {
			return &groups[i]
		}
	}
	return nil
}

func (m *composite) release(child, object Object) error {
	released := child.DeepCopy()
	owners := slices.DeleteFunc(released.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return owner.UID == object.GetUID()
	})
	released.SetOwnerReferences(owners)
	if len(owners) == 0 {
		unstructured.RemoveNestedField(released.Object, "metadata", "ownerReferences")
	}
	m.requests++
	if _, err := m.store.update(byHook, released); err != nil {
		return fmt.Errorf("can't release %s: %w", RefOf(child), err)
	}
	return nil
}
