package metacontroller

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
)

// isTeardown reports whether a request is part of a deletion, which nothing
// that is wrong with the parent or a child may stop. Metacontroller asks the
// customize hook before the finalize hook.
func (r *request) isTeardown(hook HookName) bool {
	return hook == FinalizeHook || hook == CustomizeHook && !isNull(lookup(r.parent, "metadata", "deletionTimestamp"))
}

// triedTwice: a part is decoded to see whether it can be, and again to keep it.
const triedTwice = 2

// decodeParts decodes as much of a parent as can be, and reports whether its
// spec could not. The metadata and the status are taken field by field, for each
// of them is true by itself; a spec that has lost a field would say something
// else, so it is taken as a whole or left empty.
func decodeParts[P any](req *request, parent *P) (specDamaged bool) {
	if decodeParent(req, parent) == nil {
		return false
	}
	*parent = *new(P) // nothing of what has been decoded before it failed
	take := func(part []byte) bool {
		if isTooNested(part) || req.run.spend(triedTwice*(int64(len(part))+decodedSize(part, reflect.TypeFor[P]()))) != nil {
			return false
		}
		return decode(part, new(P)) == nil && decode(part, parent) == nil
	}
	members(req.parent, func(key, value []byte) bool {
		member := string(key)
		if take(nested(value, member)) {
			return true
		}
		if member == "metadata" || member == "status" {
			members(value, func(key, value []byte) bool {
				take(nested(value, member, string(key)))
				return true
			})
			return true
		}
		specDamaged = specDamaged || member == "spec"
		return true
	})
	return specDamaged
}

// nested returns the JSON of an object in which a value stands at a path.
func nested(value []byte, path ...string) []byte {
	for _, name := range slices.Backward(path) {
		quoted, _ := json.Marshal(name) // a string cannot fail
		value = slices.Concat([]byte("{"), quoted, []byte(":"), value, []byte("}"))
	}
	return value
}

// tearDown asks a finalize function what shall be left. Where the function
// cannot decode a child, it returns that child instead. A related object that
// cannot be decoded is hidden from the function: no answer could make it go.
func tearDown[S any](seen Observed, finalize func(Observed) (Result[S], error)) (Result[S], *Snapshot, error) {
	for {
		result, err := finalize(seen)
		var request *RequestError
		if !errors.As(err, &request) || request.damaged == nil {
			return result, nil, err
		}
		if _, isChild := seen.Children.find(*request.damaged); isChild {
			return result, request.damaged, nil
		}
		i, isRelated := seen.Related.find(*request.damaged)
		if !isRelated {
			return result, nil, err
		}
		seen.Related = seen.Related.without(*request.damaged, i)
	}
}

// keepAllBut keeps all objects but one.
func keepAllBut(children Objects, one Snapshot) []Object {
	var kept []Object
	for _, kind := range slices.Sorted(maps.Keys(children.byKind)) {
		for _, child := range children.byKind[kind] {
			if !child.is(one) {
				kept = append(kept, Keep(child))
			}
		}
	}
	return kept
}

// is reports whether two snapshots are of the same object.
func (s Snapshot) is(other Snapshot) bool {
	return s.APIVersion == other.APIVersion && s.Kind == other.Kind && s.Namespace == other.Namespace && s.Name == other.Name
}

// find returns where among the objects of its kind an object stands.
func (o Objects) find(one Snapshot) (int, bool) {
	i := slices.IndexFunc(o.All(one.APIVersion, one.Kind), one.is)
	return i, i >= 0
}

// without returns the objects without the i-th of its kind.
func (o Objects) without(one Snapshot, i int) Objects {
	byKind := maps.Clone(o.byKind)
	key := one.Kind + "." + one.APIVersion
	byKind[key] = slices.Delete(slices.Clone(byKind[key]), i, i+1)
	return Objects{byKind: byKind, run: o.run}
}
