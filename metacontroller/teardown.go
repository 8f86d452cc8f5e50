package metacontroller

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
)

// isLenient reports whether a hook answers though something is wrong with the
// parent or a child. Nothing may stop a deletion, and Metacontroller asks customize
// before finalize. It remembers no error of customize either, and would ask again
// for each such parent at every event of every related object of the cluster.
func (h HookName) isLenient() bool { return h != SyncHook }

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

// decodeForRules decodes as much of a parent as can be for a customize function. The
// spec is left empty where it has more values than sync takes.
func decodeForRules[P any](req *request, parent *P) {
	if valuesOf(req.parent) <= maxParentValues {
		decodeParts(req, parent)
		return
	}
	short := *req
	short.parent = nested(lookup(req.parent, "metadata"), "metadata")
	decodeParts(&short, parent)
}

// nested returns the JSON of an object in which a value stands at a path.
func nested(value []byte, path ...string) []byte {
	for _, name := range slices.Backward(path) {
		quoted, _ := json.Marshal(name) // a string cannot fail
		value = slices.Concat([]byte("{"), quoted, []byte(":"), value, []byte("}"))
	}
	return value
}

// tearDown asks a finalize function what shall be left. Objects that the function
// cannot decode are hidden from it, and it is asked again. Where children are among
// them they are returned, and there is no result: they go first. A related object
// is passed over: no answer could make it go.
//
// With each object all others of its kind are found that cannot be decoded either,
// so that the function is asked a few times only, however many are damaged.
func tearDown[S any](seen Observed, finalize func(Observed) (Result[S], error)) (result Result[S], damaged map[objectKey]bool, err error) {
	for {
		result, err = finalize(seen)
		var request *RequestError
		if !errors.As(err, &request) || request.damaged == nil {
			if len(damaged) > 0 {
				err = nil // it was asked to find these
			}
			return result, damaged, err
		}
		one := request.damaged
		if seen.Children.has(one.Snapshot) {
			hidden := seen.Children.undecodable(one)
			seen.Children = seen.Children.without(one.Snapshot, hidden)
			if damaged == nil {
				damaged = map[objectKey]bool{}
			}
			maps.Copy(damaged, hidden)
		} else if seen.Related.has(one.Snapshot) {
			seen.Related = seen.Related.without(one.Snapshot, seen.Related.undecodable(one))
		} else {
			return result, damaged, err
		}
	}
}

// keepAllBut keeps all objects but some.
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

// objectKey tells an object apart from all others.
type objectKey struct{ apiVersion, kind, namespace, name string }

func (s Snapshot) key() objectKey { return objectKey{s.APIVersion, s.Kind, s.Namespace, s.Name} }

// has reports whether an object is one of these.
func (o Objects) has(one Snapshot) bool {
	return slices.ContainsFunc(o.All(one.APIVersion, one.Kind), func(s Snapshot) bool { return s.key() == one.key() })
}

// undecodable returns the objects of the kind of one that cannot be decoded, as it
// cannot.
func (o Objects) undecodable(one *undecodable) map[objectKey]bool {
	found := map[objectKey]bool{one.key(): true}
	for _, s := range o.All(one.APIVersion, one.Kind) {
		if o.run.passing(decodedSize(s.raw, one.into)) != nil {
			break
		}
		if decode(s.raw, reflect.New(one.into).Interface()) != nil {
			found[s.key()] = true
		}
	}
	return found
}

// without returns the objects without some of the kind of one.
func (o Objects) without(one Snapshot, some map[objectKey]bool) Objects {
	byKind := maps.Clone(o.byKind)
	key := one.Kind + "." + one.APIVersion
	byKind[key] = slices.DeleteFunc(slices.Clone(byKind[key]), func(s Snapshot) bool { return some[s.key()] })
	return Objects{byKind: byKind, run: o.run}
}
