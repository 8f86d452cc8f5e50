package apiserver

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Cache indexes objects: those of a [Server], or those that a watch has
// delivered. Its objects must not be modified.
type Cache struct {
	objects map[kube.Ref]*stored
	byKind  map[schema.GroupVersionKind]map[kube.Ref]*stored
	byOwner map[types.UID]map[kube.Ref]*stored
	label   string // whose values are indexed
	byLabel map[string]map[kube.Ref]*stored
}

// NewCache returns an empty cache, in which objects can be looked up by the values
// of one label, if it is not empty.
func NewCache(label string) *Cache {
	return &Cache{
		objects: map[kube.Ref]*stored{},
		byKind:  map[schema.GroupVersionKind]map[kube.Ref]*stored{},
		byOwner: map[types.UID]map[kube.Ref]*stored{},
		label:   label,
		byLabel: map[string]map[kube.Ref]*stored{},
	}
}

// Get returns an object, or nil.
func (c *Cache) Get(ref kube.Ref) kube.Object {
	if s := c.objects[ref]; s != nil {
		return s.object
	}
	return nil
}

// JSON returns an object's JSON, which is encoded once for each version.
func (c *Cache) JSON(object kube.Object) json.RawMessage {
	if s := c.objects[kube.RefOf(object)]; s != nil && s.object == object {
		return s.JSON()
	}
	return newStored(object, nil).JSON()
}

// Objects returns all objects in the order of kinds and names.
func (c *Cache) Objects() []kube.Object { return sorted(c.objects) }

// Named returns the first object of a kind and name, in any group and namespace.
func (c *Cache) Named(kind, name string) (first kube.Ref, found bool) {
	for ref := range c.objects {
		if ref.Kind == kind && ref.Name == name && (!found || ref.Compare(first) < 0) {
			first, found = ref, true
		}
	}
	return first, found
}

// List returns all objects of a kind in the order of their names.
func (c *Cache) List(apiVersion, kind string) []kube.Object {
	return sorted(c.byKind[schema.FromAPIVersionAndKind(apiVersion, kind)])
}

// OwnedBy returns the objects that have an owner of that UID.
func (c *Cache) OwnedBy(uid types.UID) []kube.Object { return sorted(c.byOwner[uid]) }

// Labelled returns the objects with that value of the indexed label.
func (c *Cache) Labelled(value string) []kube.Object { return sorted(c.byLabel[value]) }

// Hear stores the result of a write, and returns the write as the cache sees
// it: from its previous to its new version. By is empty.
func (c *Cache) Hear(w Write) Write {
	heard := Write{Ref: w.Ref, Before: c.Get(w.Ref), After: w.After, stored: w.stored}
	if heard.Before != nil {
		c.remove(w.Ref, heard.Before)
	}
	if w.stored != nil {
		c.add(w.Ref, w.stored)
	}
	return heard
}

func sorted(objects map[kube.Ref]*stored) []kube.Object {
	list := make([]kube.Object, 0, len(objects))
	for _, ref := range slices.SortedFunc(maps.Keys(objects), kube.Ref.Compare) {
		list = append(list, objects[ref].object)
	}
	return list
}

func (c *Cache) add(ref kube.Ref, s *stored) {
	c.objects[ref] = s
	insert(c.byKind, s.object.GroupVersionKind(), ref, s)
	for _, owner := range kube.Owners(s.object) {
		insert(c.byOwner, kube.UIDOf(owner), ref, s)
	}
	if value := kube.Label(s.object, c.label); value != "" {
		insert(c.byLabel, value, ref, s)
	}
}

func (c *Cache) remove(ref kube.Ref, object kube.Object) {
	delete(c.objects, ref)
	delete(c.byKind[object.GroupVersionKind()], ref)
	for _, owner := range kube.Owners(object) {
		delete(c.byOwner[kube.UIDOf(owner)], ref)
	}
	delete(c.byLabel[kube.Label(object, c.label)], ref)
}

func insert[K comparable](index map[K]map[kube.Ref]*stored, key K, ref kube.Ref, s *stored) {
	if index[key] == nil {
		index[key] = map[kube.Ref]*stored{}
	}
	index[key][ref] = s
}
