package metacontroller

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/internal/jsonfields"
)

// The wire form of an object is its JSON with only what its author meant. Go's
// own encoding of a Kubernetes type is full of leftovers ("strategy": {},
// "selector": null, "status": {}), and Metacontroller takes each as desired: it
// compares the merged object with the live one as text, and a field that the
// API server drops makes it write on every sync.
//
// The Go types decide: a nil pointer, slice or map and an empty struct value
// mean nothing; a pointer to an empty struct ("emptyDir": {}), an element of a
// list and a value of a map are meant. Scalars follow their omitempty tags, as
// in the API server. Members are sorted by name, so that the bytes and the hash
// stay the same with a new version of the Kubernetes types.

// appendObject appends the wire form of a child, without its status.
func appendObject(b []byte, object Object) ([]byte, error) {
	if content, ok := object.(*unstructured.Unstructured); ok {
		b, _, err := appendValue(b, reflect.ValueOf(content.Object), 0, true, "status")
		return b, err
	}
	b, _, err := appendValue(b, reflect.ValueOf(object).Elem(), 0, true, "status")
	return b, err
}

// appendStatus appends the wire form of a parent's status.
func appendStatus(b []byte, status any) ([]byte, error) {
	b, _, err := appendValue(b, reflect.ValueOf(status), 0, true, "")
	return b, err
}

// mostNested is how many values a value may be in: 10,000 lists, maps and structs, as
// deep as encoding/json reads, each of which may be behind a pointer or in an interface.
const mostNested = 20_000

// errNested ends what would never end otherwise: no recover catches a stack overflow.
var errNested = errors.New("more than 10,000 levels are in one another: a pointer, map or list may lead back to itself")

// pathBytes is about how much of a path an error says.
const pathBytes = 300

// placedError is an error in a member of what is written.
type placedError struct {
	names []string // of the members that it is in, the innermost first
	err   error
}

// Error returns the error behind the path to it, of which the beginning is said: there may be
// thousands of levels.
func (e *placedError) Error() string {
	var text strings.Builder
	for _, name := range slices.Backward(e.names) {
		if text.Len()+len(name) > pathBytes {
			text.WriteString("…: ")
			break
		}
		text.WriteString(name)
		text.WriteString(": ")
	}
	return text.String() + e.err.Error()
}

func (e *placedError) Unwrap() error { return e.err }

// within says where an error is.
func within(name string, err error) error {
	if placed, ok := err.(*placedError); ok { //nolint:errorlint // one that wraps it would be in another place
		placed.names = append(placed.names, name)
		return placed
	}
	return &placedError{names: []string{name}, err: err}
}

// appendValue appends a value, unless it means nothing, and reports whether it
// did. If meant is set, it is written even when it is empty. The member named
// without is left out. A value that is nested deeper than mostNested is an error.
func appendValue(b []byte, v reflect.Value, depth int, meant bool, without string) ([]byte, bool, error) {
	if depth++; depth > mostNested {
		return b, false, errNested
	}
	if encode := encoderOf(v); encode != nil {
		return encode(b, v, meant)
	}
	switch v.Kind() {
	case reflect.Invalid:
		return b, false, nil
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return b, false, nil
		}
		return appendValue(b, v.Elem(), depth, true, without)
	case reflect.Struct:
		return appendStruct(b, v, depth, meant, without)
	case reflect.Map:
		return appendMap(b, v, depth, meant, without)
	case reflect.Slice, reflect.Array:
		return appendList(b, v, depth, meant)
	case reflect.String:
		return appendString(b, v.String()), true, nil
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool()), true, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10), true, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.AppendUint(b, v.Uint(), 10), true, nil
	case reflect.Float32:
		text, err := json.Marshal(float32(v.Float())) // 0.1, and not 0.10000000149011612
		return append(b, text...), true, err
	case reflect.Float64:
		text, err := json.Marshal(v.Float())
		return append(b, text...), true, err
	default:
		return b, false, fmt.Errorf("a %s has no form in JSON", v.Type())
	}
}

// encoder appends a value of a type that has a form of its own in JSON.
type encoder func(b []byte, v reflect.Value, meant bool) ([]byte, bool, error)

var (
	marshalerType   = reflect.TypeFor[json.Marshaler]()
	textType        = reflect.TypeFor[encoding.TextMarshaler]()
	numberType      = reflect.TypeFor[json.Number]()
	intOrStringType = reflect.TypeFor[intstr.IntOrString]()
	isZeroType      = reflect.TypeFor[interface{ IsZero() bool }]()

	encoders sync.Map // of reflect.Type to encoder
)

// encoderOf returns the encoder of the type of a value that is no pointer, or nil for
// the form of its kind. Methods of the pointer count, too.
func encoderOf(v reflect.Value) encoder {
	if !v.IsValid() {
		return nil
	}
	return encoderOfType(v.Type())
}

// encoderOfType is encoderOf for a type.
func encoderOfType(t reflect.Type) encoder {
	if t.Kind() == reflect.Interface || t.PkgPath() == "" && t.Kind() != reflect.Struct { // it has no name, embeds nothing, and so has no methods
		return nil
	}
	if known, ok := encoders.Load(t); ok {
		return known.(encoder)
	}
	var encode encoder
	switch pointer := reflect.PointerTo(t); {
	case t == numberType:
		encode = appendNumber
	case pointer.Implements(marshalerType):
		encode = appendMarshaler
	case pointer.Implements(textType):
		encode = appendText
	}
	encoders.Store(t, encode)
	return encode
}

// withMethods returns a value as T, which its type or the pointer implements.
func withMethods[T any](v reflect.Value) T {
	if v.CanAddr() {
		return v.Addr().Interface().(T)
	}
	if value, ok := v.Interface().(T); ok {
		return value
	}
	pointer := reflect.New(v.Type())
	pointer.Elem().Set(v)
	return pointer.Interface().(T)
}

// appendMarshaler appends a value with its own encoder, such as a quantity or a
// time. The zero values are null, or 0 in the case of IntOrString. What the encoder
// returns may be a text from a spec, as of a [json.RawMessage]: one that is no value
// in JSON could end the object that it is in and begin another.
func appendMarshaler(b []byte, v reflect.Value, meant bool) ([]byte, bool, error) {
	if !meant && (v.Type() == intOrStringType && v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0) {
		return b, false, nil
	}
	text, err := withMethods[json.Marshaler](v).MarshalJSON()
	if err != nil {
		return b, false, err
	}
	if text = bytes.TrimSpace(text); string(text) == "null" {
		return b, false, nil
	}
	if !json.Valid(text) {
		return b, false, fmt.Errorf("a %s is not one value in JSON: check a text before it becomes one", v.Type())
	}
	return append(b, text...), true, nil
}

// appendText appends a value that is written as a text, such as an address.
func appendText(b []byte, v reflect.Value, _ bool) ([]byte, bool, error) {
	text, err := withMethods[encoding.TextMarshaler](v).MarshalText()
	if err != nil {
		return b, false, err
	}
	return appendString(b, string(text)), true, nil
}

func appendNumber(b []byte, v reflect.Value, _ bool) ([]byte, bool, error) {
	text, err := json.Marshal(json.Number(v.String()))
	return append(b, text...), true, err
}

func appendStruct(b []byte, v reflect.Value, depth int, meant bool, without string) ([]byte, bool, error) {
	start := len(b)
	b = append(b, '{')
	for _, f := range fieldsOf(v.Type()) {
		value, err := v.FieldByIndexErr(f.index)
		if err != nil || f.name == without || f.isEmpty(value) { // a pointer to the embedded struct is nil
			continue
		}
		if f.quoted {
			text, written, err := appendValue(nil, value, depth, false, "")
			if err != nil {
				return b, false, within(f.name, err)
			}
			if !written {
				continue
			}
			value = reflect.ValueOf(string(text))
		}
		if b, err = appendMember(b, start, f.key, value, depth, false); err != nil {
			return b, false, within(f.name, err)
		}
	}
	return closeObject(b, start, meant)
}

func appendMap(b []byte, v reflect.Value, depth int, meant bool, without string) ([]byte, bool, error) {
	if v.Type().Key().Kind() != reflect.String {
		texts, err := withTextKeys(v)
		if err != nil {
			return b, false, err
		}
		v = texts
	}
	start := len(b)
	b = append(b, '{')
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	for _, key := range keys {
		if without != "" && key.String() == without {
			continue
		}
		var err error
		if b, err = appendMember(b, start, appendString(nil, key.String()), v.MapIndex(key), depth, true); err != nil {
			return b, false, within(key.String(), err)
		}
	}
	return closeObject(b, start, meant)
}

// withTextKeys returns a map with its keys as texts, as encoding/json writes them.
func withTextKeys(v reflect.Value) (reflect.Value, error) {
	texts := reflect.MakeMapWithSize(reflect.MapOf(reflect.TypeFor[string](), v.Type().Elem()), v.Len())
	for i := v.MapRange(); i.Next(); {
		key := i.Key()
		var text string
		switch marshaler, hasText := key.Interface().(encoding.TextMarshaler); {
		case hasText:
			written, err := marshaler.MarshalText()
			if err != nil {
				return texts, err
			}
			text = string(written)
		case key.CanInt():
			text = strconv.FormatInt(key.Int(), 10)
		case key.CanUint():
			text = strconv.FormatUint(key.Uint(), 10)
		default:
			return texts, fmt.Errorf("a map with keys of the type %s has no form in JSON", key.Type())
		}
		texts.SetMapIndex(reflect.ValueOf(text), i.Value())
	}
	return texts, nil
}

// appendMember appends `"key":value` to the object that begins at start, or
// nothing.
func appendMember(b []byte, start int, key []byte, v reflect.Value, depth int, meant bool) ([]byte, error) {
	before := len(b)
	if before > start+1 {
		b = append(b, ',')
	}
	b = append(append(b, key...), ':')
	b, written, err := appendValue(b, v, depth, meant, "")
	if !written {
		b = b[:before]
	}
	return b, err
}

func closeObject(b []byte, start int, meant bool) ([]byte, bool, error) {
	if len(b) == start+1 && !meant {
		return b[:start], false, nil
	}
	return append(b, '}'), true, nil
}

func appendList(b []byte, v reflect.Value, depth int, meant bool) ([]byte, bool, error) {
	if v.Len() == 0 && !meant {
		return b, false, nil
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 && encoderOfType(v.Type().Elem()) == nil {
		return appendString(b, base64.StdEncoding.EncodeToString(v.Bytes())), true, nil
	}
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		var written bool
		var err error
		if b, written, err = appendValue(b, v.Index(i), depth, true, ""); err != nil {
			return b, false, within("["+strconv.Itoa(i)+"]", err)
		}
		if !written {
			return b, false, fmt.Errorf("[%d] is null", i)
		}
	}
	return append(b, ']'), true, nil
}

// appendString appends a JSON string.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string cannot fail
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// field is a member of a struct's wire form.
type field struct {
	name      string
	key       []byte // the name as a JSON string
	index     []int
	omitempty bool
	isZero    func(reflect.Value) bool // what omitzero leaves out, of a type that tells
	quoted    bool                     // a scalar, written as a text
}

var fieldsByType sync.Map // of reflect.Type to []field

// fieldsOf returns the fields of a struct in the order of their JSON names.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldsByType.Load(t); ok {
		return known.([]field)
	}
	var fields []field
	for _, f := range jsonfields.Of(t) {
		fields = append(fields, field{
			name: f.Name, key: appendString(nil, f.Name), index: f.Index, omitempty: f.OmitEmpty,
			isZero: isZeroOf(f), quoted: f.Quoted,
		})
	}
	fieldsByType.Store(t, fields)
	return fields
}

// isZeroOf returns the method IsZero of a field's type, where it counts. It does so
// of a struct with omitempty as well, which encoding/json writes.
func isZeroOf(f jsonfields.Field) func(reflect.Value) bool {
	switch isStruct := f.Type.Kind() == reflect.Struct; {
	case !f.OmitZero && (!f.OmitEmpty || !isStruct):
		return nil
	case f.Type.Implements(isZeroType):
		return func(v reflect.Value) bool { return v.Interface().(interface{ IsZero() bool }).IsZero() }
	case reflect.PointerTo(f.Type).Implements(isZeroType) && f.OmitZero:
		return func(v reflect.Value) bool { return withMethods[interface{ IsZero() bool }](v).IsZero() }
	default:
		return nil
	}
}

// isEmpty reports whether a field is left out of the wire form.
func (f field) isEmpty(v reflect.Value) bool {
	return f.omitempty && (v.IsZero() || f.isZero != nil && f.isZero(v))
}
