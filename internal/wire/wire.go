// Package wire writes Kubernetes objects as JSON with only what their author meant. Go's
// own encoding of a Kubernetes type is full of leftovers ("strategy": {},
// "selector": null, "status": {}), and Metacontroller takes each as desired: it
// compares the merged object with the live one as text, and a field that the
// API server drops makes it write on every sync.
//
// The Go types decide: a nil pointer, slice or map and an empty struct value
// mean nothing; a pointer to an empty struct ("emptyDir": {}), an element of a
// list and a value of a map are meant. Scalars follow their omitempty tags, as
// in the API server. Members are sorted by name, so that the bytes and their hash
// stay the same with a new version of the Kubernetes types.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// AppendObject appends the wire form of an object, without its status. The object is a pointer.
func AppendObject(b []byte, object any) ([]byte, error) {
	w := writer{b: b, without: "status"}
	if content, ok := object.(*unstructured.Unstructured); ok {
		object = &content.Object
	}
	return w.write(reflect.ValueOf(object).Elem())
}

// AppendValue appends the wire form of any value.
func AppendValue(b []byte, value any) ([]byte, error) {
	w := writer{b: b}
	return w.write(reflect.ValueOf(value))
}

// AppendStatus appends the wire form of a parent's status, in which every text is printable and
// every condition can be stored.
//
// A status quotes texts of others: what a container printed last, why the
// kubelet refused a Pod, which image somebody has set. Anyone who may run a Pod
// can put control characters there for the terminal that shows the status. And
// the API server refuses a whole status if one condition does not fit the
// schema, so that users would see no status any more.
func AppendStatus(b []byte, status any) ([]byte, error) {
	w := writer{b: b, isStatus: true}
	return w.write(reflect.ValueOf(status))
}

type writer struct {
	b        []byte
	depth    int
	without  string // a member of the outermost object that is left out
	isStatus bool
}

// mostNested is how many values a value may be in: ten times as many as in any object of
// Kubernetes.
const mostNested = 1000

// ErrNested ends what would never end otherwise: no recover catches a stack overflow.
var ErrNested = errors.New("more than 1000 levels are in one another: a pointer, map or list may lead back to itself")

func (w *writer) write(v reflect.Value) ([]byte, error) {
	_, err := w.value(v, true)
	return w.b, err
}

// value writes a value, unless it means nothing, and reports whether it
// did. If meant is set, it is written even when it is empty.
func (w *writer) value(v reflect.Value, meant bool) (written bool, err error) {
	if !v.IsValid() {
		return false, nil
	}
	return w.with(encoderOf(v.Type()), v, meant)
}

// with is value where the encoder is known.
func (w *writer) with(encode encoder, v reflect.Value, meant bool) (written bool, err error) {
	if w.depth == mostNested {
		return false, ErrNested
	}
	w.depth++
	written, err = encode(w, v, meant)
	w.depth--
	return written, err
}

// pointerTo returns the encoder of pointers.
func pointerTo(encoder func() encoder) encoder {
	return func(w *writer, v reflect.Value, _ bool) (bool, error) {
		if v.IsNil() {
			return false, nil
		}
		return w.with(encoder(), v.Elem(), true)
	}
}

// structure is the encoder of a struct.
type structure struct{ fields []field }

func (s structure) write(w *writer, v reflect.Value, meant bool) (bool, error) {
	start, without := w.open()
	for i := range s.fields {
		f := &s.fields[i]
		value, ok := f.of(v)
		if !ok || f.name == without || f.isEmpty(value) {
			continue
		}
		if w.isStatus && f.isReason {
			value = reflect.ValueOf(conditionReason(value.String()))
		}
		before := w.member(start)
		w.b = append(w.b, f.key...)
		if written, err := w.with(f.encoder(), value, false); err != nil {
			return false, fmt.Errorf("%s: %w", f.name, err)
		} else if !written {
			w.b = w.b[:before]
		}
	}
	return w.close(start, meant), nil
}

func (w *writer) texts(v reflect.Value, meant bool) (bool, error) {
	start, without := w.open()
	texts := *(v.Addr().Interface().(*map[string]string))
	var few [16]string // most maps are small
	keys := few[:0]
	for key := range texts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if key != without || without == "" {
			w.name(start, key)
			w.b = w.text(w.b, texts[key])
		}
	}
	return w.close(start, meant), nil
}

func (w *writer) mapping(v reflect.Value, meant bool) (bool, error) {
	start, without := w.open()
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		name := key.String()
		if without != "" && name == without {
			continue
		}
		before := w.name(start, name)
		if written, err := w.value(v.MapIndex(key), true); err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		} else if !written {
			w.b = w.b[:before]
		}
	}
	return w.close(start, meant), nil
}

// open begins an object. Only the outermost is written without a member.
func (w *writer) open() (start int, without string) {
	start, without = len(w.b), w.without
	w.without = ""
	w.b = append(w.b, '{')
	return start, without
}

// member begins a member of the object that begins at start, and returns where.
func (w *writer) member(start int) (before int) {
	before = len(w.b)
	if before > start+1 {
		w.b = append(w.b, ',')
	}
	return before
}

// name begins the member of a map.
func (w *writer) name(start int, name string) (before int) {
	before = w.member(start)
	w.b = append(w.text(w.b, name), ':')
	return before
}

// close ends the object that begins at start, and reports whether it is written.
func (w *writer) close(start int, meant bool) bool {
	if len(w.b) == start+1 && !meant {
		w.b = w.b[:start]
		return false
	}
	w.b = append(w.b, '}')
	return true
}

// listOf returns the encoder of lists.
func listOf(encoder func() encoder) encoder {
	return func(w *writer, v reflect.Value, meant bool) (bool, error) {
		if v.Len() == 0 && !meant {
			return false, nil
		}
		w.b = append(w.b, '[')
		for i := range v.Len() {
			if i > 0 {
				w.b = append(w.b, ',')
			}
			written, err := w.with(encoder(), v.Index(i), true)
			if err != nil {
				return false, fmt.Errorf("[%d]: %w", i, err)
			}
			if !written {
				return false, fmt.Errorf("[%d] is null", i)
			}
		}
		w.b = append(w.b, ']')
		return true, nil
	}
}

// text appends a string as JSON. In a status it is made printable.
func (w *writer) text(b []byte, s string) []byte {
	if w.isStatus {
		s = printableText(s)
	}
	return AppendString(b, s)
}

// AppendString appends a JSON string.
func AppendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(s) // a string cannot fail
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
