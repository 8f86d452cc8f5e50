package simulate

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// cache holds objects by all that they are looked for by: those of the API
// server, or those that Metacontroller has heard of.
type cache struct {
	objects   map[Ref]*record
	byKind    map[schema.GroupVersionKind]map[Ref]*record
	byOwner   map[types.UID]map[Ref]*record
	adoptable map[types.UID]map[Ref]*record // without a controller, by the UID in selectorLabel
}

func newCache() *cache {
	return &cache{
		objects:   map[Ref]*record{},
		byKind:    map[schema.GroupVersionKind]map[Ref]*record{},
		byOwner:   map[types.UID]map[Ref]*record{},
		adoptable: map[types.UID]map[Ref]*record{},
	}
}

// get returns an object, or nil.
func (c *cache) get(ref Ref) Object {
	if r := c.objects[ref]; r != nil {
		return r.object
	}
	return nil
}

// raw returns an object's JSON, which is kept if the object is held.
func (c *cache) raw(object Object) json.RawMessage {
	r := c.objects[RefOf(object)]
	if r == nil || r.object != object {
		r = &record{object: object}
	}
	if r.raw == nil {
		text, err := json.Marshal(r.object.Object)
		if err != nil {
			panic(err) // it was JSON when it came
		}
		r.raw = text
	}
	return r.raw
}

// list returns all objects of a kind in the order of their names.
func (c *cache) list(apiVersion, kind string) []Object {
	return sorted(c.byKind[schema.FromAPIVersionAndKind(apiVersion, kind)])
}

// ownedBy returns the objects that have an owner of that UID.
func (c *cache) ownedBy(uid types.UID) []Object { return sorted(c.byOwner[uid]) }

// orphans returns the objects without a controller that carry the label of that
// UID.
func (c *cache) orphans(uid types.UID) []Object { return sorted(c.adoptable[uid]) }

func sorted(records map[Ref]*record) []Object {
	refs := make([]Ref, 0, len(records))
	for ref := range records {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, Ref.compare)
	objects := make([]Object, len(refs))
	for i, ref := range refs {
		objects[i] = records[ref].object
	}
	return objects
}

// add files a record under all that it is looked for by.
func (c *cache) add(ref Ref, r *record) {
	c.objects[ref] = r
	insert(c.byKind, r.object.GroupVersionKind(), ref, r)
	for _, owner := range r.object.GetOwnerReferences() {
		insert(c.byOwner, owner.UID, ref, r)
	}
	if uid := r.object.GetLabels()[selectorLabel]; uid != "" && ownerUID(r.object) == "" {
		insert(c.adoptable, types.UID(uid), ref, r)
	}
}

// take takes an object out.
func (c *cache) take(ref Ref, object Object) {
	delete(c.objects, ref)
	delete(c.byKind[object.GroupVersionKind()], ref)
	for _, owner := range object.GetOwnerReferences() {
		delete(c.byOwner[owner.UID], ref)
	}
	delete(c.adoptable[types.UID(object.GetLabels()[selectorLabel])], ref)
}

func insert[K comparable](index map[K]map[Ref]*record, key K, ref Ref, r *record) {
	if index[key] == nil {
		index[key] = map[Ref]*record{}
	}
	index[key][ref] = r
}
