package metacontroller

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/jsonfields"
)

const (
	// maxObjectBytes is the size of the largest parent that is read. The API
	// server reads no larger request, and stores a custom resource as JSON.
	maxObjectBytes = 3 << 20
	// maxObservedBytes is the size of the largest other object. etcd stores at
	// most 1.5 MiB of it, but Metacontroller writes requests with Go's encoder,
	// which takes six bytes for each "<", and protobuf stores an object of many
	// small parts in a quarter of its JSON. So no larger object exists.
	maxObservedBytes = 16 << 20
)

// Memory costs of decoding, besides the strings themselves. Lists and maps grow
// by doubling, and their former arrays may not be freed yet.
const (
	growth      = 2
	entryBytes  = 32  // of a map, beside its key and value
	mapBytes    = 56  // of a map that is not empty, beside its first places
	mapPlaces   = 8   // of a map with one entry
	inPlace     = 128 // of a key or a value of a map, which holds a pointer to a larger one
	valueBytes  = 80  // of a value of no known type, with its place in a list or map
	objectBytes = 320 // of an object of no known type: the first eight places
	opaqueBytes = 64  // of a type with its own decoder: a time, a quantity

	// A long text may be copied into messages, which are cut only when they are
	// set: the reason of a Pod, for example.
	longTextBytes  = 64 << 10
	longTextCopies = 4
)

// shape is a Go type as far as it matters for the cost of decoding.
type shape struct {
	kind   shapeKind
	size   int64             // of what a list, map or pointer holds
	fields map[string]*shape // of a struct
	inner  *shape            // of a list, map or pointer
	// largest is the largest size of what a value has at any depth, once it is measured, as
	// for the types that something is decoded into.
	largest    int64
	isMeasured bool

	embedded   int64 // of a struct: what the pointers that it embeds point to
	isQuantity bool  // of a type with its own decoder
	isTime     bool  // the same
	isHolder   bool  // the same, which may have lists, maps or structs, as JSONSchemaPropsOrArray
}

type shapeKind int

const (
	scalarShape shapeKind = iota
	opaqueShape
	anyShape
	structShape
	listShape
	mapShape
	pointerShape
)

// shapes caches the shapes by type.
var shapes = struct {
	sync.Mutex

	byType map[reflect.Type]*shape
}{byType: map[reflect.Type]*shape{}}

func shapeOf(t reflect.Type) *shape {
	shapes.Lock()
	defer shapes.Unlock()
	s := makeShape(t)
	if !s.isMeasured { // once: it is read without the lock
		s.largest, s.isMeasured = s.largestSize(map[*shape]bool{}), true
	}
	return s
}

// largestSize returns the largest size of a shape and of those in it that have not been seen.
func (s *shape) largestSize(seen map[*shape]bool) int64 {
	if s == nil || seen[s] {
		return 0
	}
	seen[s] = true
	most := max(s.size, s.embedded, s.inner.largestSize(seen))
	for _, field := range s.fields {
		most = max(most, field.largestSize(seen))
	}
	return most
}

// makeShape makes a shape once, so that recursive types end.
func makeShape(t reflect.Type) *shape {
	if known, ok := shapes.byType[t]; ok {
		return known
	}
	s := &shape{}
	shapes.byType[t] = s
	if hasDecoder(t) {
		s.kind, s.isQuantity = opaqueShape, t == reflect.TypeFor[resource.Quantity]()
		s.isTime = t == reflect.TypeFor[metav1.Time]() || t == reflect.TypeFor[metav1.MicroTime]()
		s.isHolder = holds(t, map[reflect.Type]bool{})
		if s.isHolder {
			s.lookInside(t)
		}
		return s
	}
	switch t.Kind() {
	case reflect.Struct:
		s.kind, s.fields = structShape, map[string]*shape{}
		for _, f := range jsonfields.Of(t) {
			s.fields[f.Name] = makeShape(f.Type)
		}
		s.embedded = embeddedSize(t, map[reflect.Type]bool{t: true})
	case reflect.Array: // it is in its holder
		s.kind, s.inner = listShape, makeShape(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // bytes are a string
			s.kind, s.size, s.inner = listShape, int64(t.Elem().Size()), makeShape(t.Elem())
		}
	case reflect.Map:
		s.kind, s.size, s.inner = mapShape, int64(t.Key().Size()+t.Elem().Size()), makeShape(t.Elem())
	case reflect.Pointer:
		s.kind, s.size, s.inner = pointerShape, allocated(t.Elem()), makeShape(t.Elem())
	case reflect.Interface:
		s.kind = anyShape
	default: // the text says it
	}
	return s
}

// hasDecoder reports whether a type says itself what a text means.
func hasDecoder(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(reflect.TypeFor[json.Unmarshaler]()) || pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// holds reports whether a type with its own decoder may read a text into lists, maps or
// structs, in fields that other packages do not see, too.
func holds(t reflect.Type, seen map[reflect.Type]bool) bool {
	switch t {
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[time.Time]():
		return false // numbers, and a time zone that all have together
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Slice:
		return t.Elem().Kind() != reflect.Uint8 // bytes are the text
	case reflect.Map, reflect.Pointer, reflect.Array:
		return true
	case reflect.Interface:
		return t.NumMethod() == 0
	case reflect.Struct:
		for i := range t.NumField() {
			if holds(t.Field(i).Type, seen) {
				return true
			}
		}
	default: // the text says it
	}
	return false
}

// lookInside notes what a type with its own decoder may read a text into.
func (s *shape) lookInside(t reflect.Type) {
	switch t.Kind() {
	case reflect.Struct:
		s.fields = map[string]*shape{}
		for i := range t.NumField() {
			s.fields[t.Field(i).Name] = makeShape(t.Field(i).Type)
		}
	case reflect.Slice, reflect.Array:
		s.size, s.inner = int64(t.Elem().Size()), makeShape(t.Elem())
	case reflect.Map:
		s.size, s.inner = int64(t.Key().Size()+t.Elem().Size()), makeShape(t.Elem())
	default: // a pointer has no methods
	}
}

// allocated returns what Go takes for a value by itself: its sizes are up to an eighth apart.
func allocated(t reflect.Type) int64 { return int64(t.Size() + t.Size()/8) }

// embeddedSize returns the size of the structs that a struct embeds by a pointer, at any level.
func embeddedSize(t reflect.Type, seen map[reflect.Type]bool) (size int64) {
	for i := range t.NumField() {
		f := t.Field(i)
		inner := f.Type
		isPointer := inner.Kind() == reflect.Pointer
		if isPointer {
			inner = inner.Elem()
		}
		if !f.Anonymous || inner.Kind() != reflect.Struct || seen[inner] {
			continue
		}
		seen[inner] = true
		if isPointer {
			size += allocated(inner)
		}
		size += embeddedSize(inner, seen)
	}
	return size
}

// decodedSize returns about how many bytes a text takes when it is decoded into
// a type, without the value itself. That may be far more than the length of the
// text: the two bytes {} can become a struct of a thousand.
func decodedSize(raw []byte, t reflect.Type) int64 {
	s := shapeOf(t)
	return s.sizeOf(raw, 0, s.largest)
}

// deepestType is how many levels of a text are read by a type. Each goes through the
// text that is left, so that a type that has itself in it, and a text of thousands of
// levels, would take minutes.
const deepestType = 64

// sizeOf returns the size of a text at a depth, in which no value of the type holds another
// of more than the bytes of the largest.
func (s *shape) sizeOf(raw []byte, depth int, largest int64) int64 {
	var n int64
	if depth++; depth > deepestType {
		return anySize(raw) + largestOfEach(raw, largest)
	}
	switch s.kind {
	case scalarShape:
		n = int64(len(raw))
		if n > longTextBytes {
			n *= longTextCopies
		}
	case opaqueShape:
		n = opaqueBytes + growth*int64(len(raw))
		if s.isHolder {
			n += anySize(raw) + largestOfEach(raw, largest)
		}
	case anyShape:
		n = anySize(raw)
	case structShape:
		hasField := false
		members(raw, func(key, value []byte) bool {
			if field, ok := s.fields[string(key)]; ok {
				hasField = true
				n += field.sizeOf(value, depth, largest)
			}
			return true
		})
		if hasField {
			n += s.embedded
		}
	case listShape:
		elements(raw, func(value []byte) bool {
			n += growth*s.size + s.inner.sizeOf(value, depth, largest)
			return true
		})
	case mapShape:
		members(raw, func(key, value []byte) bool {
			if n == 0 {
				n = mapBytes + mapPlaces*min(s.size, 2*inPlace)
			}
			n += growth*(s.size+entryBytes) + int64(len(key)) + s.inner.sizeOf(value, depth, largest)
			return true
		})
	case pointerShape:
		if !isNull(raw) {
			n = s.size + s.inner.sizeOf(raw, depth, largest)
		}
	}
	return n
}

// largestOfEach returns the size of the values of a valid text where each has the largest, as
// may what a decoder makes of a number.
func largestOfEach(raw []byte, largest int64) int64 {
	return growth * largest * int64(countValues(raw))
}

// anySize is decodedSize for a valid text that is decoded without a type.
func anySize(raw []byte) int64 {
	n := int64(len(raw)) + valueBytes
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = skipString(raw, i) - 1
		case '{':
			n += valueBytes
			if raw[i+1] != '}' {
				n += objectBytes
			}
		case ',', '[':
			n += valueBytes
		}
	}
	return n
}
