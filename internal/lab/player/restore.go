package player

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
)

// Restore stores the parent, the children and the related objects of a sync
// request, so that Play continues from there. Objects that are not in the
// request, such as the Pods of a Deployment, are created anew. A parent that is
// being deleted is restored without that, and related objects have no owner.
func (w *World) Restore(request []byte) error {
	content, err := kube.ParseJSON(request)
	if err != nil {
		return fmt.Errorf("it is no JSON object: %w", err)
	}
	parent, err := w.restore(apiserver.ByUser, content["parent"], nil)
	if err != nil {
		return fmt.Errorf("the parent: %w", err)
	}
	if err := w.restoreAll(apiserver.ByHook, content["children"], parent); err != nil {
		return fmt.Errorf("the child %w", err)
	}
	if err := w.restoreAll(apiserver.ByUser, content["related"], nil); err != nil {
		return fmt.Errorf("the related object %w", err)
	}
	return nil
}

func (w *World) restoreAll(by apiserver.Actor, content any, owner kube.Object) error {
	groups, _ := content.(map[string]any)
	for _, kind := range slices.Sorted(maps.Keys(groups)) {
		objects, _ := groups[kind].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(objects)) {
			stored, err := w.restore(by, objects[name], owner)
			if owner == nil && apierrors.IsAlreadyExists(err) {
				continue // a child can be related, too
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if owner == nil {
				w.foreign[kube.RefOf(stored)] = true
			}
		}
	}
	return nil
}

func (w *World) restore(by apiserver.Actor, content any, owner kube.Object) (kube.Object, error) {
	fields, ok := content.(map[string]any)
	if !ok {
		return nil, errors.New("it is no object")
	}
	object := (&unstructured.Unstructured{Object: fields}).DeepCopy()
	object.SetNamespace(cmp.Or(object.GetNamespace(), metav1.NamespaceDefault))
	if err := w.addNamespace(object.GetNamespace()); err != nil {
		return nil, err
	}
	object.SetOwnerReferences(nil)
	if owner != nil {
		object.SetNamespace(owner.GetNamespace())
		object.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())})
		object.SetLabels(labels.Merge(object.GetLabels(), labels.Set{composite.SelectorLabel: string(owner.GetUID())}))
	}
	stored, err := w.server.Create(by, object)
	if err != nil {
		return nil, err
	}
	if status, ok := fields["status"].(map[string]any); ok {
		return w.server.UpdateStatus(by, kube.RefOf(stored), status)
	}
	return stored, nil
}
