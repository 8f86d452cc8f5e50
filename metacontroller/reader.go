package metacontroller

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/operetta-dev/operetta/internal/wire"
)

// reader reads a request in one pass: every byte is checked, objects are told apart, and each
// is decoded into the type that its hook reads. Names are case-sensitive and stand once, and
// the text is valid UTF-8, as the API server has it.
type reader struct {
	decoder jsontext.Decoder
	buffer  bytes.Buffer
	text    []byte
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// newReader returns a reader of a text, which must not change while its parts are used.
// Call release after the last call of a method.
func newReader(text []byte) *reader {
	r := readers.Get().(*reader)
	r.text, r.buffer = text, *bytes.NewBuffer(text)
	r.decoder.Reset(&r.buffer) // of a Buffer nothing is copied
	return r
}

func (r *reader) release() {
	r.text, r.buffer = nil, bytes.Buffer{}
	r.decoder.Reset(&r.buffer)
	readers.Put(r)
}

// value returns the next value, or the next name, as it is written.
func (r *reader) value() ([]byte, error) {
	value, err := r.decoder.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(r.decoder.InputOffset())
	return r.text[end-len(value) : end], nil
}

// errKind ends the reading of a value that is of another kind than it must be.
var errKind = errors.New("another kind of value")

// members calls visit for each member of the next value, which must be an object. Visit
// reads the member's value.
func (r *reader) members(visit func(name []byte) error) error {
	if r.decoder.PeekKind() != '{' {
		if err := r.decoder.SkipValue(); err != nil {
			return err
		}
		return errKind
	}
	if _, err := r.decoder.ReadToken(); err != nil {
		return err
	}
	for r.decoder.PeekKind() != '}' {
		name, err := r.value()
		if err != nil {
			return err
		}
		if err := visit(unquote(name)); err != nil {
			return err
		}
	}
	_, err := r.decoder.ReadToken()
	return err
}

// end reports anything behind the value.
func (r *reader) end() error {
	if _, err := r.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("a second value follows")
		}
		return err
	}
	return nil
}

// object reads the next value as an object of Kubernetes: its identity, and the parts that this
// package reads. Its members are decoded into the target, too, unless that is invalid.
// managedFields are not: no hook reads them, and they are the largest part of many objects.
func (r *reader) object(known *Snapshot, target reflect.Value) (s Snapshot, err error) {
	start := int(r.decoder.InputOffset())
	into := shapeOf(target)
	err = r.members(func(name []byte) error {
		switch string(name) {
		case "apiVersion":
			return r.identity(&s, &s.APIVersion, known.APIVersion, into.top, target, name)
		case "kind":
			return r.identity(&s, &s.Kind, known.Kind, into.top, target, name)
		case "metadata":
			s.hasMetadata = r.decoder.PeekKind() == '{'
			return ignoreKind(r.metadata(&s, known, into, target))
		case "spec":
			return r.part(&s.spec, into.top, target, name)
		case "status":
			return r.part(&s.status, into.top, target, name)
		}
		return r.member(into.top, target, name)
	})
	end := int(r.decoder.InputOffset())
	s.raw = bytes.TrimLeft(r.text[start:end], " \t\r\n:,")
	return s, err
}

// metadata reads the metadata of an object.
func (r *reader) metadata(s, known *Snapshot, into shape, target reflect.Value) error {
	if into.metadata == nil && into.top["metadata"] != nil { // it decodes itself
		metadata, err := r.value()
		if err != nil {
			return err
		}
		if err := r.decode(metadata, into.top, target, "metadata"); err != nil {
			return err
		}
		part := newReader(metadata)
		defer part.release()
		return part.metadata(s, known, shape{}, reflect.Value{})
	}
	if into.metadata != nil {
		target = at(target, into.top["metadata"])
	}
	fields := into.metadata
	return r.members(func(name []byte) error {
		switch string(name) {
		case "name":
			return r.identity(s, &s.Name, "", fields, target, name)
		case "namespace":
			return r.identity(s, &s.Namespace, known.Namespace, fields, target, name)
		case "uid":
			return r.identity(s, (*string)(&s.UID), "", fields, target, name)
		case "generation":
			return r.part(&s.generation, fields, target, name)
		case "deletionTimestamp":
			s.Terminating = r.decoder.PeekKind() != 'n'
		case "labels":
			return r.part(&s.labels, fields, target, name)
		case "annotations":
			return r.part(&s.annotations, fields, target, name)
		case "ownerReferences":
			return r.part(&s.owners, fields, target, name)
		case "finalizers":
			return r.part(&s.finalizers, fields, target, name)
		case "managedFields":
			return r.part(&s.managed, nil, target, name)
		}
		return r.member(fields, target, name)
	})
}

// identity reads a string, and decodes it into the member of the target. A known text is not copied.
func (r *reader) identity(s *Snapshot, into *string, known string, fields fields, target reflect.Value, name []byte) error {
	value, err := r.value()
	if err != nil {
		return err
	}
	if value[0] != '"' {
		s.damaged = true
		return nil
	}
	if text := unquote(value); string(text) == known {
		*into = known
	} else {
		*into = string(text)
	}
	field := fields[string(name)]
	if field == nil {
		return nil
	}
	if to := at(target, field); to.Kind() == reflect.String {
		to.SetString(*into)
		return nil
	}
	return r.decode(value, fields, target, string(name))
}

// part reads a value that stays as it is written, and decodes it into the member of the target.
func (r *reader) part(into *[]byte, fields fields, target reflect.Value, name []byte) error {
	start := int(r.decoder.InputOffset())
	if field := fields[string(name)]; field != nil {
		if err := r.member(fields, target, name); err != nil {
			return err
		}
		*into = bytes.TrimLeft(r.text[start:int(r.decoder.InputOffset())], " \t\r\n:")
		return nil
	}
	value, err := r.value()
	*into = value
	return err
}

// member decodes the next value into the member of the target, or skips it.
func (r *reader) member(fields fields, target reflect.Value, name []byte) error {
	field := fields[string(name)]
	if field == nil {
		return r.decoder.SkipValue()
	}
	return json.UnmarshalDecode(&r.decoder, at(target, field).Addr().Interface(), decoding)
}

// decode decodes a value into the member of the target.
func (r *reader) decode(value []byte, fields fields, target reflect.Value, name string) error {
	return json.Unmarshal(value, at(target, fields[name]).Addr().Interface(), decoding)
}

// decoding are the rules of Kubernetes where they are not those of the decoder: integers stay
// integers where no type is wanted.
var decoding = json.JoinOptions(jsonv1.FormatDurationAsNano(true), json.WithUnmarshalers(json.UnmarshalFromFunc(untyped)))

// untyped decodes a number into an interface, as int64 where it is one.
func untyped(decoder *jsontext.Decoder, into *any) error {
	if decoder.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	number, err := decoder.ReadValue()
	if err != nil {
		return err
	}
	if whole, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		*into = whole
		return nil
	}
	*into, err = strconv.ParseFloat(string(number), 64)
	return err
}

// fields are the members of a struct by their names in JSON, as paths of indexes.
type fields map[string][]int

// shape is the part of a type that a reader needs.
type shape struct{ top, metadata fields }

var shapes sync.Map // of reflect.Type to shape

// shapeOf returns the shape of a target. That of an invalid one is empty.
func shapeOf(target reflect.Value) shape {
	if !target.IsValid() {
		return shape{}
	}
	t := target.Type()
	if known, ok := shapes.Load(t); ok {
		return known.(shape)
	}
	made := shape{top: fieldsOfType(t)}
	for _, f := range wire.Fields(t) {
		if f.Name == "metadata" && readsMembers(f.Type) {
			made.metadata = fieldsOfType(f.Type)
		}
	}
	shapes.Store(t, made)
	return made
}

func fieldsOfType(t reflect.Type) fields {
	byName := fields{}
	for _, f := range wire.Fields(t) {
		byName[f.Name] = f.Index
	}
	return byName
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	unmarshalerFrom = reflect.TypeFor[json.UnmarshalerFrom]()
)

// readsMembers reports whether a type is a struct that is decoded member by member.
func readsMembers(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return t.Kind() == reflect.Struct && !pointer.Implements(unmarshaler) && !pointer.Implements(unmarshalerFrom)
}

// at returns a field, and makes the structs that are embedded as pointers on the way.
func at(v reflect.Value, index []int) reflect.Value {
	for i, n := range index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v
}
