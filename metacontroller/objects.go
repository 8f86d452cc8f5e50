package metacontroller

import (
	"errors"
	"reflect"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/rawjson"
)

// Observed is everything that a hook knows besides its parent.
type Observed struct {
	// Children are the objects that the parent owns, those that are being
	// deleted included.
	Children Objects
	// Related are the objects that the customize hook has selected.
	Related Objects
	// Now is the time of the request, in whole seconds. It is the only clock
	// of a hook.
	Now time.Time
	// SpecDamaged is set for a finalize hook if the spec of the parent cannot
	// be decoded. The spec is empty then, which says nothing about what was
	// wanted.
	SpecDamaged bool

	call *call
}

type call struct {
	controller Controller
	request    *request
}

// Objects are observed objects by kind and in the order of their names. Hooks read them with
// [Get] and [List].
type Objects struct {
	byKind map[string][]Snapshot // by Resource.Key
}

// Snapshot is one observed object: its identity, and the text of the rest.
// A struct that a hook decodes into may embed it, tagged `json:"-"`, to carry
// it along.
type Snapshot struct {
	APIVersion, Kind, Namespace, Name string

	UID types.UID
	// Terminating is set while the object is being deleted.
	Terminating bool

	hasMetadata bool
	damaged     bool   // a part of its identity is no string
	key         string // in the request, where it has no name
	decoded     any    // as its declaration asks for, a pointer, or nil
	raw         []byte
	// Parts of raw, nil where they are absent.
	spec, status                                                 []byte
	generation, labels, annotations, owners, finalizers, managed []byte
}

// Ref returns the reference by which a message names the object.
func (s Snapshot) Ref() string { return s.Kind + "/" + s.Name }

// embed is found by [List] on structs that embed a Snapshot.
func (s *Snapshot) embed(from Snapshot) { *s = from }

// check returns what is wrong with an object, as the end of a sentence. A lenient hook needs an
// identity only.
func (s *Snapshot) check(lenient bool) error {
	// A spec that is null is damaged; labels that are null are none.
	isObjectOrAbsent := func(part []byte) bool { return part == nil || part[0] == '{' }
	isMap := func(part []byte) bool { return rawjson.IsNull(part) || part[0] == '{' }
	switch {
	case !s.hasMetadata || s.APIVersion == "" || s.Kind == "":
		return errors.New("is no object with apiVersion, kind and metadata")
	case s.Name == "" || s.damaged:
		return errors.New("has no metadata.name, or an identity that is no string")
	case lenient:
		return nil
	case !isObjectOrAbsent(s.spec) || !isObjectOrAbsent(s.status):
		return errors.New("has a spec or status that is no object")
	case !isMap(s.labels) || !isMap(s.annotations):
		return errors.New("has labels or annotations that are no object")
	}
	return nil
}

// Decode decodes the object into a struct, often one with a few fields of a
// large object. An error is a [RequestError] that names the object; a hook
// returns it unchanged. The managedFields of an ObjectMeta are left out.
func (s Snapshot) Decode(into any) error {
	target := reflect.ValueOf(into)
	if s.decoded != nil && reflect.TypeOf(s.decoded) == target.Type() {
		target.Elem().Set(reflect.ValueOf(s.decoded).Elem())
	} else if err := decode(s.raw, into); err != nil {
		return badRequest("%s cannot be decoded: %s", s.Ref(), err)
	}
	if holder, ok := into.(interface{ embed(Snapshot) }); ok {
		holder.embed(s)
	}
	return nil
}

// Label returns the value of a label, or "" if it is missing or cannot be read.
func (s Snapshot) Label(name string) string {
	value, _ := rawjson.Text(rawjson.Lookup(s.labels, name))
	return value
}

// annotation returns the value of an annotation, or "".
func (s Snapshot) annotation(name string) string {
	value, _ := rawjson.Text(rawjson.Lookup(s.annotations, name))
	return value
}

// All returns the objects of a kind in the order of their names. The slice
// belongs to the request and must not be changed.
func (o Objects) All(apiVersion, kind string) []Snapshot {
	return o.byKind[kind+"."+apiVersion]
}

// Includes reports whether the request has a list of the kind, which may be empty. It has none
// of a related kind that the customize hook did not select.
func (o Objects) Includes(kind Resource) bool {
	_, isThere := o.byKind[kind.Key()]
	return isThere
}

// Find returns the object of a kind and a name.
func (o Objects) Find(apiVersion, kind, name string) (Snapshot, bool) {
	objects := o.All(apiVersion, kind)
	i := sort.Search(len(objects), func(i int) bool { return objects[i].Name >= name })
	if i == len(objects) || objects[i].Name != name {
		return Snapshot{}, false
	}
	return objects[i], true
}

// Len returns the number of objects of all kinds.
func (o Objects) Len() int {
	n := 0
	for _, objects := range o.byKind {
		n += len(objects)
	}
	return n
}

// Get decodes the object of a kind and a name, and returns nil if it is not
// observed. Errors are those of [Snapshot.Decode].
func Get[T any](objects Objects, apiVersion, kind, name string) (*T, error) {
	snapshot, found := objects.Find(apiVersion, kind, name)
	if !found {
		return nil, nil //nolint:nilnil // absence is nil, here as in every hook
	}
	into := new(T)
	if err := snapshot.Decode(into); err != nil {
		return nil, err
	}
	return into, nil
}

// List decodes all objects of a kind, in the order of their names. Errors are
// those of [Snapshot.Decode].
func List[T any](objects Objects, apiVersion, kind string) ([]T, error) {
	snapshots := objects.All(apiVersion, kind)
	list := make([]T, len(snapshots))
	for i := range snapshots {
		if err := snapshots[i].Decode(&list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ListReadable decodes those objects of a kind that can be decoded, in the
// order of their names. It is for finalize hooks, which a damaged object must
// not stop; [Objects.All] includes the others.
func ListReadable[T any](objects Objects, apiVersion, kind string) []T {
	snapshots := objects.All(apiVersion, kind)
	list := make([]T, 0, len(snapshots))
	for _, snapshot := range snapshots {
		var into T
		if snapshot.Decode(&into) == nil {
			list = append(list, into)
		}
	}
	return list
}
