package composite

import (
	"fmt"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SelectorLabel is the label by which Metacontroller selects children with generateSelector.
const SelectorLabel = "controller-uid"

// claimChildren returns the parent's children by declared kind. A child without the label is
// released, an orphan with it is adopted. The request contains an adopted one as it was before.
func (m *Metacontroller) claimChildren(p *Parent, object kube.Object) ([]group, error) {
	groups := make([]group, len(p.controller.Children))
	for i, child := range p.controller.Children {
		groups[i].kind = m.server.Kind(child.APIVersion, child.Kind)
	}
	deleting := object.GetDeletionTimestamp() != nil
	for _, child := range m.cache.OwnedBy(object.GetUID()) {
		g := groupOf(groups, child)
		if g == nil || kube.ControllerUID(child) != object.GetUID() {
			continue
		}
		if kube.Label(child, SelectorLabel) == string(object.GetUID()) {
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
	for _, orphan := range m.cache.Labelled(string(object.GetUID())) {
		g := groupOf(groups, orphan)
		if g == nil || kube.ControllerUID(orphan) != "" || orphan.GetNamespace() != object.GetNamespace() || orphan.GetDeletionTimestamp() != nil {
			continue
		}
		g.objects = append(g.objects, orphan)
		if err := m.adopt(orphan, object); err != nil {
			return nil, fmt.Errorf("can't adopt %s: %w", kube.RefOf(orphan), err)
		}
		slices.SortFunc(g.objects, func(a, b kube.Object) int { return kube.RefOf(a).Compare(kube.RefOf(b)) })
	}
	return groups, nil
}

func groupOf(groups []group, object kube.Object) *group {
	for i := range groups {
		if groups[i].kind.APIVersion == object.GetAPIVersion() && groups[i].kind.Kind == object.GetKind() {
			return &groups[i]
		}
	}
	return nil
}

// adopt makes a parent the owner of an orphan. Both are first read from the API
// server, and must still exist.
func (m *Metacontroller) adopt(orphan, object kube.Object) error {
	parent := m.server.Get(kube.RefOf(object))
	if parent == nil || parent.GetUID() != object.GetUID() {
		return fmt.Errorf("original %s is gone", kube.RefOf(object))
	}
	if parent.GetDeletionTimestamp() != nil {
		return fmt.Errorf("%s has just been deleted", kube.RefOf(object))
	}
	live, err := m.lookUp(orphan)
	if err != nil {
		return err
	}
	// An owner reference to the parent that names it no controller is replaced.
	adopted := kube.KeepOwners(live, func(owner metav1.OwnerReference) bool { return owner.UID != object.GetUID() })
	claim(adopted, object)
	_, err = m.sendUpdate(adopted)
	return err
}

// lookUp reads an object from the API server. Another one of the same name does not count.
func (m *Metacontroller) lookUp(object kube.Object) (kube.Object, error) {
	ref := kube.RefOf(object)
	live := m.server.Get(ref)
	if live == nil || live.GetUID() != object.GetUID() {
		return nil, apierrors.NewNotFound(m.server.Kind(ref.APIVersion, ref.Kind).GroupResource(), ref.Name)
	}
	return live, nil
}

func (m *Metacontroller) release(child, object kube.Object) error {
	live, err := m.lookUp(child)
	if err != nil {
		return nil //nolint:nilerr // a deleted child needs no release
	}
	released := kube.KeepOwners(live, func(owner metav1.OwnerReference) bool { return owner.UID != object.GetUID() })
	if _, err := m.sendUpdate(released); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("can't release %s: %w", kube.RefOf(child), err)
	}
	return nil
}
