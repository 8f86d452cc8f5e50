package simulate

import (
	"cmp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// create applies an object that does not exist yet, or a custom resource.
func (w *World) create(text []byte) error {
	object, err := ParseObject(text)
	if err != nil {
		return err
	}
	object.SetNamespace(cmp.Or(object.GetNamespace(), metav1.NamespaceDefault))
	if ref := RefOf(object); w.server.Get(ref) != nil && !w.isParentKind(ref) {
		return apierrors.NewAlreadyExists(w.server.Kind(ref.APIVersion, ref.Kind).GroupResource(), ref.Name)
	}
	return w.Apply(text)
}

func (w *World) mend() {
	w.faults.list = nil
	w.server.SetQuota("")
	w.composite.Retry()
	w.builtin.CheckAll()
}
