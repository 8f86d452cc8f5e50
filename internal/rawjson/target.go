package rawjson

import (
	"reflect"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/operetta-dev/operetta/internal/wire"
)

// Target is a struct into which the members of an object are decoded one by one. The zero value
// takes none.
type Target struct {
	value  reflect.Value
	fields map[string][]int // paths of indexes by names in JSON
}

var (
	fieldsByType sync.Map // of reflect.Type to map[string][]int
	withMembers  sync.Map // of reflect.Type to bool
)

// TargetOf returns the target for a struct, which must be addressable.
func TargetOf(into reflect.Value) Target {
	if !into.IsValid() {
		return Target{}
	}
	t := into.Type()
	if known, ok := fieldsByType.Load(t); ok {
		return Target{into, known.(map[string][]int)}
	}
	fields := map[string][]int{}
	for _, f := range wire.Fields(t) {
		fields[f.Name] = f.Index
	}
	fieldsByType.Store(t, fields)
	return Target{into, fields}
}

// Field returns the field for a member, or an invalid value.
func (t Target) Field(name []byte) reflect.Value {
	index, found := t.fields[string(name)]
	if !found {
		return reflect.Value{}
	}
	v := t.value
	for i, n := range index {
		if i > 0 && v.Kind() == reflect.Pointer { // an embedded struct
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v
}

// ReadMember decodes the next value into the field for a member, or skips it.
func (r *Reader) ReadMember(target Target, name []byte) error {
	field := target.Field(name)
	if !field.IsValid() {
		return r.Skip()
	}
	return json.UnmarshalDecode(&r.decoder, field.Addr().Interface(), decoding)
}

// ReadPart is ReadMember, and returns the value as it is written.
func (r *Reader) ReadPart(target Target, name []byte) ([]byte, error) {
	start := r.Offset()
	if err := r.ReadMember(target, name); err != nil {
		return nil, err
	}
	return r.Since(start), nil
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	unmarshalerFrom = reflect.TypeFor[json.UnmarshalerFrom]()
)

// HasMembers reports whether a type is a struct that is decoded member by member.
func HasMembers(t reflect.Type) bool {
	if known, ok := withMembers.Load(t); ok {
		return known.(bool)
	}
	pointer := reflect.PointerTo(t)
	has := t.Kind() == reflect.Struct && !pointer.Implements(unmarshaler) && !pointer.Implements(unmarshalerFrom)
	withMembers.Store(t, has)
	return has
}
