package metacontroller

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
)

// isLenient reports whether a hook answers even if the parent or a child is
// damaged. Nothing may stop a deletion, and Metacontroller calls customize
// before finalize. It does not cache errors of customize either, and would call
// it again for each such parent at every event of every related object in the
// cluster.
func (h HookName) isLenient() bool { return h != SyncHook }

// decodedTwice: a part is decoded once to check it, and again to keep it.
const decodedTwice = 2

// decodeParts decodes as much of a parent as possible, and reports whether its
// spec could not be decoded. The metadata and the status are decoded field by
// field, because each field is true by itself; a spec without one of its fields
// would mean something else, so it is decoded as a whole or left empty.
func decodeParts[P any](req *request, parent *P) (specDamaged bool) {
	if decodeParent(req, parent) == nil {
		return false
	}
	*parent = *new(P) // drop what was decoded before the failure
	take := func(part []byte) bool {
		if isTooNested(part) || req.run.spend(decodedTwice*(int64(len(part))+decodedSize(part, reflect.TypeFor[P]()))) != nil {
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

// decodeForRules decodes as much of a parent as possible for a customize
// function. The spec is left empty if it has more values than sync accepts.
func decodeForRules[P any](req *request, parent *P) {
	if valuesOf(req.parent) <= maxParentValues {
		decodeParts(req, parent)
		return
	}
	short := *req
	short.parent = nested(lookup(req.parent, "metadata"), "metadata")
	decodeParts(&short, parent)
}

// nested returns the JSON of an object with a value at a path.
func nested(value []byte, path ...string) []byte {
	for _, name := range slices.Backward(path) {
		quoted, _ := json.Marshal(name) // a string cannot fail
		value = slices.Concat([]byte("{"), quoted, []byte(":"), value, []byte("}"))
	}
	return value
}

// tearDown calls a finalize function to learn which children stay. Objects that
// the function cannot decode are hidden from it, and it is called again. If
// children are among them, they are returned without a result: they are deleted
// first. A related object is only skipped: no answer can delete it.
//
// With each such object all others of its kind are checked, so that the
// function is called a few times only, however many objects are damaged.
func tearDown[S any](observed Observed, finalize func(Observed) (Result[S], error)) (result Result[S], damaged map[objectKey]bool, err error) {
	for {
		result, err = finalize(observed)
		var request *RequestError
		if !errors.As(err, &request) || request.damaged == nil {
			if len(damaged) > 0 {
				err = nil // the call only served to find these
			}
			return result, damaged, err
		}
		one := request.damaged
		if observed.Children.has(one.Snapshot) {
			hidden := observed.Children.undecodable(one)
			observed.Children = observed.Children.without(one.Snapshot, hidden)
			if damaged == nil {
				damaged = map[objectKey]bool{}
			}
			maps.Copy(damaged, hidden)
		} else if observed.Related.has(one.Snapshot) {
			observed.Related = observed.Related.without(one.Snapshot, observed.Related.undecodable(one))
		} else {
			return result, damaged, err
		}
	}
}

// keepAllBut keeps all objects except some.
func keepAllBut(children Objects, some map[objectKey]bool) []Object {
	var kept []Object
	for _, kind := range slices.Sorted(maps.Keys(children.byKind)) {
		for _, child := range children.byKind[kind] {
			if !some[child.key()] {
				kept = append(kept, Keep(child))
			}
		}
	}
	return kept
}

// undecodable is an object that cannot be decoded into a type.
type undecodable struct {
	Snapshot

	into reflect.Type
}

// objectKey identifies an object.
type objectKey struct{ apiVersion, kind, namespace, name string }

func (s Snapshot) key() objectKey { return objectKey{s.APIVersion, s.Kind, s.Namespace, s.Name} }

// has reports whether an object is in the list.
func (o Objects) has(one Snapshot) bool {
	return slices.ContainsFunc(o.All(one.APIVersion, one.Kind), func(s Snapshot) bool { return s.key() == one.key() })
}

// undecodable returns the objects of the same kind that cannot be decoded into
// the same type.
func (o Objects) undecodable(one *undecodable) map[objectKey]bool {
	found := map[objectKey]bool{one.key(): true}
	for _, s := range o.All(one.APIVersion, one.Kind) {
		if o.run.spendTemporarily(decodedSize(s.raw, one.into)) != nil {
			break
		}
		if decode(s.raw, reflect.New(one.into).Interface()) != nil {
			found[s.key()] = true
		}
	}
	return found
}

// without returns the objects except some of one kind.
func (o Objects) without(one Snapshot, some map[objectKey]bool) Objects {
	byKind := maps.Clone(o.byKind)
	key := one.Kind + "." + one.APIVersion
	byKind[key] = slices.DeleteFunc(slices.Clone(byKind[key]), func(s Snapshot) bool { return some[s.key()] })
	return Objects{byKind: byKind, run: o.run}
}
