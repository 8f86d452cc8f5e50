package metacontroller

import (
	"encoding/json"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/rawjson"
)

// isLenient reports whether a hook answers even if the parent or a child is
// damaged. Nothing may stop a deletion, and Metacontroller calls customize
// before finalize. It does not cache errors of customize either, and would call
// it again for each such parent at every event of every related object in the
// cluster.
func (h HookName) isLenient() bool { return h != SyncHook }

// decodeParts decodes as much of a parent as possible, and reports whether its
// spec could not be decoded. Each member is decoded as a whole or left empty: a spec
// without one of its fields would mean something else. Name, namespace and UID are always there,
// for children are named by them.
func decodeParts[P any](req *request, parent *P) (specDamaged bool) {
	if decode(req.parent.raw, parent) == nil {
		return false
	}
	*parent = *new(P) // drop what was decoded before the failure
	rawjson.Members(req.parent.raw, func(key, value []byte) bool {
		quoted, _ := json.Marshal(string(key)) // a string cannot fail
		part := slices.Concat([]byte("{"), quoted, []byte(":"), value, []byte("}"))
		if decode(part, new(P)) == nil {
			_ = decode(part, parent)
		} else if string(key) == "spec" {
			specDamaged = true
		}
		return true
	})
	if object, isObject := any(parent).(metav1.Object); isObject {
		object.SetName(req.Name)
		object.SetNamespace(req.Namespace)
		object.SetUID(req.UID)
	}
	return specDamaged
}

func keepAll(children Objects) []Object {
	var kept []Object
	for _, kind := range slices.Sorted(maps.Keys(children.byKind)) {
		for _, child := range children.byKind[kind] {
			kept = append(kept, Keep(child))
		}
	}
	return kept
}
