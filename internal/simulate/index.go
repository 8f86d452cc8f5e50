package simulate

import "k8s.io/apimachinery/pkg/types"

// index files a record under all that it is looked for by.
func (s *store) index(ref Ref, r *record) {
	insert(s.byKind, r.object.GroupVersionKind(), ref, r)
	for _, owner := range r.object.GetOwnerReferences() {
		insert(s.byOwner, owner.UID, ref, r)
	}
	if uid := r.object.GetLabels()[selectorLabel]; uid != "" && ownerUID(r.object) == "" {
		insert(s.adoptable, types.UID(uid), ref, r)
	}
	for _, port := range nodePortsOf(r.object) {
		s.nodePorts[port] = ref
	}
}

func (s *store) unindex(ref Ref, object Object) {
	delete(s.byKind[object.GroupVersionKind()], ref)
	for _, owner := range object.GetOwnerReferences() {
		delete(s.byOwner[owner.UID], ref)
	}
	delete(s.adoptable[types.UID(object.GetLabels()[selectorLabel])], ref)
	for _, port := range nodePortsOf(object) {
		delete(s.nodePorts, port)
	}
}

func insert[K comparable](index map[K]map[Ref]*record, key K, ref Ref, r *record) {
	if index[key] == nil {
		index[key] = map[Ref]*record{}
	}
	index[key][ref] = r
}
