package metacontroller

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/rawjson"
)

// isLenient reports whether a hook answers even if the parent or a child is
// damaged. Nothing may stop a deletion, and Metacontroller calls customize
// before finalize. It does not cache errors of customize either, and would call
// it again for each such parent at every event of every related object in the
// cluster.
func (h HookName) isLenient() bool { return h != SyncHook }

// decodeParts decodes as much of a parent as possible, and reports whether its
// spec could not be decoded. The metadata and the status are decoded field by
// field, because each field is true by itself; a spec without one of its fields
// would mean something else, so it is decoded as a whole or left empty.
func decodeParts[P any](req *request, parent *P) (specDamaged bool) {
	if decode(req.parent.raw, parent) == nil {
		return false
	}
	*parent = *new(P) // drop what was decoded before the failure
	take := func(part []byte) bool { return decode(part, new(P)) == nil && decode(part, parent) == nil }
	rawjson.Members(req.parent.raw, func(key, value []byte) bool {
		member := string(key)
		switch {
		case take(nested(value, member)):
		case member == "metadata", member == "status":
			rawjson.Members(value, func(key, value []byte) bool {
				take(nested(value, member, string(key)))
				return true
			})
		case member == "spec":
			specDamaged = true
		}
		return true
	})
	return specDamaged
}

// nested returns the JSON of an object with a value at a path.
func nested(value []byte, path ...string) []byte {
	for _, name := range slices.Backward(path) {
		quoted, _ := json.Marshal(name) // a string cannot fail
		value = slices.Concat([]byte("{"), quoted, []byte(":"), value, []byte("}"))
	}
	return value
}

// keepAll keeps all objects.
func keepAll(children Objects) []Object {
	var kept []Object
	for _, kind := range slices.Sorted(maps.Keys(children.byKind)) {
		for _, child := range children.byKind[kind] {
			kept = append(kept, Keep(child))
		}
	}
	return kept
}
