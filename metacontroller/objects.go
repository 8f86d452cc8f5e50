package metacontroller

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
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

	parent  string          // as kubectl events takes it, with its namespace
	inPlace map[string]bool // the kinds of children that are updated, by Resource.Key
	taken   *takenNames
}

// Wanted returns an error once nobody waits for the answer any more: the client
// has closed the connection, or the time is up. A hook that loops over very
// many objects, or has nested loops, checks it there and returns the error
// unchanged. It costs some nanoseconds.
func (o Observed) Wanted() error { return o.Children.run.spend(0) }

// Objects are observed objects by kind and in the order of their names. They
// are decoded when a hook asks for them with [Get] or [List].
type Objects struct {
	byKind map[string][]Snapshot // by Resource.Key
	run    *run                  // of the call that they belong to
}

// Snapshot is one observed object of which only the identity has been decoded.
// A struct that a hook decodes into may embed it, tagged `json:"-"`, to carry
// it along.
type Snapshot struct {
	APIVersion, Kind, Namespace, Name string

	UID types.UID
	// Terminating is set while the object is being deleted.
	Terminating bool

	raw []byte // unchanged
	run *run   // of the call that it belongs to
}

// Ref returns the reference by which a message names the object.
func (s Snapshot) Ref() string { return s.Kind + "/" + s.Name }

// embed is found by [List] on structs that embed a Snapshot.
func (s *Snapshot) embed(from Snapshot) { *s = from }

// Decode decodes the object into a struct, often one with a few fields of a
// large object. An error is a [RequestError] that names the object; a hook
// returns it unchanged.
func (s Snapshot) Decode(into any) error {
	if err := s.run.spend(decodedSize(s.raw, reflect.TypeOf(into).Elem())); err != nil {
		return err
	}
	if err := decode(s.raw, into); err != nil {
		return &RequestError{reason: fmt.Sprintf("%s cannot be decoded: %s", s.Ref(), err), damaged: &undecodable{s, reflect.TypeOf(into).Elem()}}
	}
	if holder, ok := into.(interface{ embed(Snapshot) }); ok {
		holder.embed(s)
	}
	return nil
}

// Label returns the value of a label, or "" if it is missing or cannot be read.
func (s Snapshot) Label(name string) string {
	value, _ := text(lookup(s.raw, "metadata", "labels", name))
	return value
}

// All returns the objects of a kind in the order of their names. The slice
// belongs to the request and must not be changed.
func (o Objects) All(apiVersion, kind string) []Snapshot {
	return o.byKind[kind+"."+apiVersion]
}

// Find returns the object of a kind and a name.
func (o Objects) Find(apiVersion, kind, name string) (Snapshot, bool) {
	objects := o.All(apiVersion, kind)
	i, found := slices.BinarySearchFunc(objects, name, func(s Snapshot, name string) int {
		return cmp.Compare(s.Name, name)
	})
	if !found {
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
	if err := objects.run.spend(sizeOf[T]() * int64(len(snapshots))); err != nil {
		return nil, err
	}
	list := make([]T, len(snapshots))
	for i, snapshot := range snapshots {
		if err := snapshot.Decode(&list[i]); err != nil {
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

// reading are the options for reading the objects of a request.
type reading struct {
	run       *run
	namespace string // objects of other namespaces are refused, unless this is empty
	// lenient is set during a deletion: an object then needs an identity only.
	lenient bool
}

const (
	// mostKinds is how many kinds of objects a request may have. Metacontroller sends those
	// that are declared.
	mostKinds = 64
	// longestName is the length of the longest name, namespace or kind that an API server
	// stores, but for the names of roles and of what binds them, which have no limit of their
	// own: https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/apis/rbac/validation/validation.go
	longestName = 253
	rbacGroup   = "rbac.authorization.k8s.io/"
)

// objects reads the identities of all objects in a map of maps, kind by kind.
// The inner keys are ignored: they are names in hook version v1 and
// namespace/name in v2, and the objects have both.
func (r reading) objects(field string, raw []byte) (Objects, error) {
	objects := Objects{byKind: map[string][]Snapshot{}, run: r.run}
	if field == "related" && isNull(raw) {
		return objects, nil
	}
	var failure error
	ok := members(raw, func(kind, group []byte) bool {
		list, err := r.group(string(kind), group)
		if err != nil {
			failure = badRequest("%s[%.100q]: %s", field, kind, err)
		}
		if _, twice := objects.byKind[string(kind)]; twice {
			failure = badRequest("%s[%.100q] stands twice", field, kind)
		}
		objects.byKind[string(kind)] = list
		if failure == nil && len(objects.byKind) > mostKinds {
			failure = badRequest("%s has more than %d kinds", field, mostKinds)
		}
		return failure == nil
	})
	if err := r.run.failure(); err != nil {
		return objects, err
	}
	if failure != nil {
		return objects, failure
	}
	if !ok {
		return objects, badRequest("%s is not an object of objects by kind", field)
	}
	return objects, nil
}

func (r reading) group(kind string, raw []byte) ([]Snapshot, error) {
	var list []Snapshot
	var failure error
	ok := members(raw, func(key, value []byte) bool {
		if r.run.spendEach(len(list), snapshotBytes) != nil {
			return false
		}
		snapshot, err := r.snapshot(value)
		if len(snapshot.Name) > longestName && r.run.spend(int64(len(snapshot.Name))) != nil {
			return false
		}
		switch {
		case len(value) > maxObservedBytes:
			failure = fmt.Errorf("%.100q has more than %d bytes, which no API server would store", key, maxObservedBytes)
		case err != nil:
			failure = fmt.Errorf("%.100q %w", key, err)
		case snapshot.Kind+"."+snapshot.APIVersion != kind:
			failure = fmt.Errorf("%.100q is of another kind", key)
		case r.namespace != "" && snapshot.Namespace != "" && snapshot.Namespace != r.namespace:
			failure = fmt.Errorf("%.100q is not in the parent's namespace", key)
		}
		list = append(list, snapshot)
		return failure == nil
	})
	if failure != nil {
		return nil, failure
	}
	if !ok {
		return nil, errors.New("is not an object of objects by name")
	}
	order := func(a, b Snapshot) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	}
	slices.SortFunc(list, order)
	for i := 1; i < len(list); i++ {
		if order(list[i-1], list[i]) == 0 {
			return nil, fmt.Errorf("%.100q stands twice", list[i].Name)
		}
	}
	return list, nil
}

// snapshot reads the identity of an object. Its error continues a sentence that
// begins with the object's name.
func (r reading) snapshot(raw []byte) (Snapshot, error) {
	s := Snapshot{raw: raw, run: r.run}
	var metadata []byte
	isString, isWhole := true, true
	ok := members(raw, func(key, value []byte) bool {
		switch string(key) {
		case "apiVersion":
			s.APIVersion, isString = text(value)
		case "kind":
			s.Kind, isString = text(value)
		case "metadata":
			metadata = value
		case "spec", "status", "data":
			isWhole = r.lenient || isObject(value)
		}
		return isString && isWhole
	})
	if !isWhole {
		return s, errors.New("has a spec, status or data that is no object")
	}
	if !ok || !isObject(metadata) || s.APIVersion == "" || s.Kind == "" {
		return s, errors.New("is no object with apiVersion, kind and metadata")
	}
	ok = members(metadata, func(key, value []byte) bool {
		switch string(key) {
		case "name":
			s.Name, isString = text(value)
		case "namespace":
			s.Namespace, isString = text(value)
		case "uid":
			var uid string
			uid, isString = text(value)
			s.UID = types.UID(uid)
		case "deletionTimestamp":
			s.Terminating = !isNull(value)
		case "labels", "annotations":
			isWhole = r.lenient || isNull(value) || isObject(value)
		}
		return isString && isWhole
	})
	if !isWhole {
		return s, errors.New("has labels or annotations that are no object")
	}
	if !ok || s.Name == "" {
		return s, errors.New("has no metadata.name, or one that is no string")
	}
	longest := longestName
	if strings.HasPrefix(s.APIVersion, rbacGroup) {
		longest = mostStoredBytes
	}
	if len(s.Name) > longest || len(s.Namespace) > longestName || len(s.Kind) > longestName || len(s.APIVersion) > 2*longestName || len(s.UID) > longestName {
		return s, fmt.Errorf("has a name, namespace, uid, kind or apiVersion of more than %d bytes, which no API server would store", longestName)
	}
	return s, nil
}
