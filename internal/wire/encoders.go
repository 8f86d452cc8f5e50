package wire

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// encoder writes a value of one type, unless it means nothing.
type encoder func(w *writer, v reflect.Value, meant bool) (written bool, err error)

var (
	marshalerType   = reflect.TypeFor[json.Marshaler]()
	textType        = reflect.TypeFor[encoding.TextMarshaler]()
	numberType      = reflect.TypeFor[json.Number]()
	intOrStringType = reflect.TypeFor[intstr.IntOrString]()
	textsType       = reflect.TypeFor[map[string]string]()
	conditionType   = reflect.TypeFor[metav1.Condition]()
	timeType        = reflect.TypeFor[metav1.Time]()
	isZeroType      = reflect.TypeFor[interface{ IsZero() bool }]()

	encoders sync.Map // of reflect.Type to encoder
)

// encoderOf returns the encoder of a type. Methods of its pointer count, too.
func encoderOf(t reflect.Type) encoder {
	if known, ok := encoders.Load(t); ok {
		return known.(encoder)
	}
	made := newEncoder(t)
	encoders.Store(t, made)
	return made
}

// laterEncoderOf is encoderOf, which it asks once: when the encoder is needed, for a type may
// have itself in it.
func laterEncoderOf(t reflect.Type) func() encoder {
	return sync.OnceValue(func() encoder { return encoderOf(t) })
}

func newEncoder(t reflect.Type) encoder {
	pointer := reflect.PointerTo(t)
	switch {
	case t.Kind() == reflect.Interface:
		return func(w *writer, v reflect.Value, _ bool) (bool, error) {
			if v.IsNil() {
				return false, nil
			}
			return w.value(v.Elem(), true)
		}
	case t.Kind() == reflect.Pointer:
		return pointerTo(laterEncoderOf(t.Elem()))
	case t == intOrStringType:
		return intOrString
	case t == timeType:
		return timestamp
	case t == numberType:
		return marshal
	case pointer.Implements(marshalerType):
		return marshaler
	case pointer.Implements(textType):
		return textMarshaler
	case t == textsType:
		return func(w *writer, v reflect.Value, meant bool) (bool, error) {
			if v.CanAddr() {
				return w.texts(v, meant)
			}
			return w.mapping(v, meant)
		}
	}
	switch t.Kind() {
	case reflect.Struct:
		return structure{fieldsOf(t)}.write
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return (*writer).mapping
		}
		return func(*writer, reflect.Value, bool) (bool, error) {
			return false, fmt.Errorf("a map with keys of the type %s has no form in JSON", t.Key())
		}
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !reflect.PointerTo(t.Elem()).Implements(marshalerType) {
			return base64Bytes
		}
		return listOf(laterEncoderOf(t.Elem()))
	default:
		return scalar
	}
}

func scalar(w *writer, v reflect.Value, _ bool) (bool, error) {
	switch {
	case v.Kind() == reflect.String:
		w.b = w.text(w.b, v.String())
	case v.Kind() == reflect.Bool:
		w.b = strconv.AppendBool(w.b, v.Bool())
	case v.CanInt():
		w.b = strconv.AppendInt(w.b, v.Int(), 10)
	case v.CanUint():
		w.b = strconv.AppendUint(w.b, v.Uint(), 10)
	case v.CanFloat():
		return marshal(w, v, true)
	default:
		return false, fmt.Errorf("a %s has no form in JSON", v.Type())
	}
	return true, nil
}

// marshal writes a value as encoding/json does.
func marshal(w *writer, v reflect.Value, _ bool) (bool, error) {
	text, err := json.Marshal(v.Interface())
	w.b = append(w.b, text...)
	return true, err
}

func base64Bytes(w *writer, v reflect.Value, meant bool) (bool, error) {
	if v.Len() == 0 && !meant {
		return false, nil
	}
	w.b = append(base64.StdEncoding.AppendEncode(append(w.b, '"'), v.Bytes()), '"')
	return true, nil
}

// intOrString and timestamp write what the encoders of the two types would. A port that is 0
// means nothing, and neither does a zero time.
func intOrString(w *writer, v reflect.Value, meant bool) (bool, error) {
	switch value := pointerIn[intstr.IntOrString](v); {
	case !meant && *value == intstr.IntOrString{}:
		return false, nil
	case value.Type == intstr.Int:
		w.b = strconv.AppendInt(w.b, int64(value.IntVal), 10)
	case value.Type == intstr.String:
		w.b = AppendString(w.b, value.StrVal)
	default:
		return marshaler(w, v, meant)
	}
	return true, nil
}

func timestamp(w *writer, v reflect.Value, _ bool) (bool, error) {
	value := pointerIn[metav1.Time](v)
	if value.IsZero() {
		return false, nil
	}
	w.b = append(value.UTC().AppendFormat(append(w.b, '"'), time.RFC3339), '"')
	return true, nil
}

// pointerIn returns a pointer to what a value holds, or to a copy.
func pointerIn[T any](v reflect.Value) *T {
	if v.CanAddr() {
		return v.Addr().Interface().(*T)
	}
	value := v.Interface().(T)
	return &value
}

// marshaler writes a value with its own encoder, such as a quantity. The zero values are null.
// What the encoder returns may be a text from a spec, as of a [json.RawMessage]: one that is no value
// in JSON could end the object that it is in and begin another.
func marshaler(w *writer, v reflect.Value, meant bool) (bool, error) {
	if !meant && v.Kind() == reflect.Slice && v.Len() == 0 {
		return false, nil
	}
	text, err := withMethods[json.Marshaler](v).MarshalJSON()
	if err != nil {
		return false, err
	}
	if text = bytes.TrimSpace(text); string(text) == "null" {
		return false, nil
	}
	if !json.Valid(text) {
		return false, fmt.Errorf("a %s is not one value in JSON: check a text before it becomes one", v.Type())
	}
	w.b = append(w.b, text...)
	return true, nil
}

// textMarshaler writes a value that is written as a text, such as an address.
func textMarshaler(w *writer, v reflect.Value, _ bool) (bool, error) {
	text, err := withMethods[encoding.TextMarshaler](v).MarshalText()
	if err != nil {
		return false, err
	}
	w.b = w.text(w.b, string(text))
	return true, nil
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

type field struct {
	name      string
	key       []byte // the name as a JSON string, with a colon
	index     []int
	omitempty bool
	isZero    func(reflect.Value) bool // what omitzero leaves out, of a type that tells
	isReason  bool                     // of a condition
	encoder   func() encoder
}

func fieldsOf(t reflect.Type) []field {
	var fields []field
	for _, f := range Fields(t) {
		fields = append(fields, field{
			name: f.Name, key: append(AppendString(nil, f.Name), ':'), index: f.Index, omitempty: f.OmitEmpty,
			isZero: isZeroOf(f), isReason: t == conditionType && f.Name == "reason",
			encoder: laterEncoderOf(f.Type),
		})
	}
	return fields
}

// of returns the field of a struct, and false where the pointer to an embedded struct is nil.
func (f *field) of(v reflect.Value) (reflect.Value, bool) {
	if len(f.index) == 1 {
		return v.Field(f.index[0]), true
	}
	value, err := v.FieldByIndexErr(f.index)
	return value, err == nil
}

// isZeroOf returns the method IsZero of a field's type, where it counts. It does so
// of a struct with omitempty as well, which encoding/json writes.
func isZeroOf(f Field) func(reflect.Value) bool {
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

func (f *field) isEmpty(v reflect.Value) bool {
	return f.omitempty && (v.IsZero() || f.isZero != nil && f.isZero(v))
}
