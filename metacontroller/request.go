package metacontroller

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/internal/jsonfields"
)

// Identity identifies the parent of a request.
type Identity struct {
	// Namespace and UID may be empty in a request written by hand.
	Namespace, Name string
	UID             types.UID
	// Generation is the parent's metadata.generation.
	Generation int64
}

// request is a sync, finalize or customize request. Hook versions v1 and v2
// differ only in the keys of the objects, which are ignored.
type request struct {
	Identity
	run        *run
	parent     json.RawMessage // unchanged
	children   Objects
	related    Objects
	finalizing bool
	// controller is Metacontroller's configuration. It is not checked, and may be nil.
	controller json.RawMessage
}

// readRequest splits a request and checks that every object in it has a unique
// identity. With a [RequestError] it returns the part that could be read.
func (c Controller) readRequest(run *run, hook HookName, body []byte) (*request, error) {
	req := &request{run: run}
	if err := run.spend(0); err != nil {
		return req, err
	}
	if !utf8.Valid(body) {
		return req, badRequest("the request body is not valid UTF-8, which Metacontroller always sends")
	}
	if !json.Valid(body) {
		return req, badRequest("the request body is not valid JSON: %s", syntaxError(body))
	}
	var children, related, finalizing []byte
	isEnvelope := members(body, func(key, value []byte) bool {
		switch string(key) {
		case "controller":
			req.controller = value
		case "parent":
			req.parent = value
		case "children":
			children = value
		case "related":
			related = value
		case "finalizing":
			finalizing = value
		}
		return true
	})
	if !isEnvelope || !isObject(req.parent) {
		return req, badRequest("the request has no parent object")
	}
	if len(req.parent) > maxObjectBytes {
		return req, badRequest("the parent has more than %d bytes, which no API server would store", maxObjectBytes)
	}
	if err := c.readParent(hook, req); err != nil {
		return req, err
	}
	if hook == CustomizeHook {
		if err := req.reduceParent(); err != nil {
			return req, err
		}
	}
	if err := req.refuseDuplicateKeys(); err != nil {
		return req, err
	}
	if hook == CustomizeHook {
		return req, nil
	}
	var err error
	lenient := hook.isLenient()
	if req.children, err = (reading{run, req.Namespace, lenient}).objects("children", children); err != nil {
		return req, err
	}
	if req.related, err = (reading{run, "", lenient}).objects("related", related); err != nil {
		return req, err
	}
	if err = c.checkKinds(req); err != nil {
		return req, err
	}
	req.finalizing = string(finalizing) == "true"
	if req.finalizing != (hook == FinalizeHook) {
		return req, badRequest(`the %s hook was called with "finalizing": %t`, hook, req.finalizing)
	}
	return req, nil
}

// reduceParent reduces the parent to what a customize function may read: its name,
// namespace and spec, and its identity. Labels of a megabyte would cost more
// memory than a customize request may take.
func (r *request) reduceParent() error {
	if err := r.run.spendTemporarily(int64(len(r.parent))); err != nil {
		return err
	}
	whole := func(out, value []byte) []byte { return append(out, value...) }
	short := make([]byte, 0, len(lookup(r.parent, "spec"))+512)
	r.parent = appendMembers(short, r.parent, map[string]appender{
		"apiVersion": whole, "kind": whole, "spec": whole,
		"metadata": func(out, value []byte) []byte {
			return appendMembers(out, value, map[string]appender{"name": whole, "namespace": whole, "uid": whole, "generation": whole})
		},
	})
	return nil
}

// appender appends the part of a value that is kept.
type appender func(out, value []byte) []byte

// appendMembers appends an object with only some members of another, including
// duplicates.
func appendMembers(out, object []byte, some map[string]appender) []byte {
	separator := byte('{')
	members(object, func(key, value []byte) bool {
		if appendTo, ok := some[string(key)]; ok {
			out = strconv.AppendQuote(append(out, separator), string(key))
			out = appendTo(append(out, ':'), value)
			separator = ','
		}
		return true
	})
	if separator == '{' {
		out = append(out, '{')
	}
	return append(out, '}')
}

// syntaxError says where a text is not valid JSON.
func syntaxError(body []byte) string {
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, new(json.RawMessage)); errors.As(err, &syntax) {
		return syntax.Error()
	}
	return "unknown error"
}

// readParent reads the parent's identity and refuses another kind. A lenient
// hook refuses nothing else that an API server could have stored.
func (c Controller) readParent(hook HookName, req *request) error {
	id, err := reading{lenient: hook.isLenient()}.snapshot(req.parent)
	if err != nil {
		return badRequest("the parent %s", err)
	}
	req.Namespace, req.Name, req.UID = id.Namespace, id.Name, id.UID
	if id.APIVersion != c.Parent.APIVersion || id.Kind != c.Parent.Kind {
		return badRequest("the parent is not a %s of %s", c.Parent.Kind, c.Parent.APIVersion)
	}
	if generation := lookup(req.parent, "metadata", "generation"); generation != nil {
		if json.Unmarshal(generation, &req.Generation) != nil && !hook.isLenient() {
			return badRequest("the parent's metadata.generation is not an integer")
		}
	}
	return nil
}

// checkKinds makes sure that Metacontroller watches the kinds that the
// Controller declares. Children of a declared kind that is not watched would be
// created and never observed; children of a watched kind that is not declared
// would be deleted, because no answer can contain them.
func (c Controller) checkKinds(req *request) error {
	for _, child := range c.Children {
		if _, ok := req.children.byKind[child.Key()]; !ok {
			return badRequest("the request has no children of kind %q: its CompositeController does not watch them", child.Key())
		}
	}
	for key, objects := range req.children.byKind {
		if len(objects) > 0 && !c.declares(key) {
			return badRequest("the request has children of kind %.100q, which %s does not declare", key, c.Name())
		}
	}
	for _, kind := range c.Related {
		if _, ok := req.related.byKind[kind.Key()]; !ok {
			return badRequest("the request has no related objects of kind %q: its CompositeController has no customize hook", kind.Key())
		}
	}
	return nil
}

func (c Controller) declares(key string) bool {
	for _, child := range c.Children {
		if child.Key() == key {
			return true
		}
	}
	return false
}

// cannotUnmarshalNumber is the prefix of the decoder's error.
const cannotUnmarshalNumber = "json: cannot unmarshal number"

// mostLookedInto is the size of an object that is decoded again, part by part, to tell which one
// cannot be: many times what people write, and little memory.
const mostLookedInto = 64 << 10

// decode decodes a raw object as the API server would: names are
// case-sensitive, integers stay integers, unknown fields are ignored.
func decode(raw []byte, into any) error {
	if err := checkQuantities(raw, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	err := kjson.UnmarshalCaseSensitivePreserveInts(raw, into)
	if err == nil {
		return nil
	}
	message := err.Error()
	// The error also quotes a number that does not fit its type.
	if after, ok := strings.CutPrefix(message, cannotUnmarshalNumber); ok {
		_, after, _ = strings.Cut(after, " into ")
		message = cannotUnmarshalNumber + " into " + after
	}
	if got, rest, ok := strings.Cut(message, " into Go struct field "); ok {
		field, want, _ := strings.Cut(rest, " of type ")
		_, path, _ := strings.Cut(field, ".") // after the Go type
		return badRequest("%s is %s, and %s is wanted", path, strings.TrimPrefix(got, "json: cannot unmarshal "), want)
	}
	// Errors of quantities, times and the like quote the value, which must not
	// reach an event.
	reason, _, _ := strings.Cut(message, `"`)
	where := ""
	if len(raw) <= mostLookedInto {
		where = firstUnreadable(raw, reflect.TypeOf(into).Elem(), 0)
	}
	if where == "" || where[0] == '*' {
		where = "a value"
	}
	return badRequest("%s cannot be read: %s", where, strings.TrimRight(reason, " :'"))
}

// firstUnreadable returns the path of the first value of an object that cannot be decoded into its
// part of a Go type, as the errors of quantities, times and the like do not tell it. It is
// empty where that is the object itself.
func firstUnreadable(raw []byte, t reflect.Type, depth int) (path string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if depth++; depth > deepestType || hasDecoder(t) {
		return ""
	}
	isReadable := func(name string, value []byte, t reflect.Type) bool {
		if kjson.UnmarshalCaseSensitivePreserveInts(value, reflect.New(t).Interface()) == nil {
			return true
		}
		path = strings.TrimSuffix(name+"."+firstUnreadable(value, t, depth), ".")
		return false
	}
	switch t.Kind() {
	case reflect.Struct:
		types := map[string]reflect.Type{}
		for _, field := range jsonfields.Of(t) {
			types[field.Name] = field.Type
		}
		members(raw, func(key, value []byte) bool {
			t, known := types[string(key)]
			return !known || isReadable(string(key), value, t)
		})
	case reflect.Map:
		members(raw, func(_, value []byte) bool { return isReadable("*", value, t.Elem()) }) // names that users choose are not shown
	case reflect.Slice, reflect.Array:
		i := -1
		elements(raw, func(value []byte) bool {
			i++
			return isReadable(strconv.Itoa(i), value, t.Elem())
		})
	default: // has nothing below
	}
	return path
}
