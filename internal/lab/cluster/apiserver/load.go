package apiserver

import (
	"encoding/json"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// loadedUIDs is where the UIDs of new objects begin in a server with objects that were loaded: they
// have UIDs of their own.
const loadedUIDs = 1_000_000_000

// Load stores an object of another API server as it is, with all that a server sets. If it is for
// server-side apply, its managedFields say what was applied; without them nothing was.
func (s *Server) Load(object kube.Object, forApply bool) {
	loaded := newStored(object, nil)
	if forApply {
		loaded.applied, loaded.others = managersOf(object)
	}
	s.uids = max(s.uids, loadedUIDs)
	ref := kube.RefOf(object)
	s.add(ref, loaded)
	s.notify(Write{Ref: ref, After: object, stored: loaded})
}

// Normalized returns an object as this server stores it when somebody writes it as it is: a loaded
// one may have been written by a server of another version.
func (s *Server) Normalized(object kube.Object) kube.Object {
	kind := s.Kind(object.GetAPIVersion(), object.GetKind())
	stored, err := s.admit(kind, own(kind, object), object)
	if err != nil {
		return object
	}
	return stored
}

// managersOf returns the fields that Metacontroller has applied, and those of all others. An entry
// that cannot be read counts for nothing, as it does in an API server.
func managersOf(object kube.Object) (applied *fieldpath.Set, others fieldpath.ManagedFields) {
	for _, entry := range object.GetManagedFields() {
		fields := &fieldpath.Set{}
		if entry.FieldsV1 == nil || fields.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
			continue
		}
		isApply := entry.Operation == metav1.ManagedFieldsOperationApply
		if isApply && entry.Manager == Applier && entry.Subresource == "" {
			applied = fields
			continue
		}
		name, _ := json.Marshal([]string{entry.Manager, string(entry.Operation), entry.APIVersion, entry.Subresource}) // strings
		if others == nil {
			others = fieldpath.ManagedFields{}
		}
		others[string(name)] = fieldpath.NewVersionedSet(fields, fieldpath.APIVersion(entry.APIVersion), isApply)
	}
	return applied, others
}
