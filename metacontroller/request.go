package metacontroller

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/rawjson"
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
	parent     Snapshot
	children   Objects
	related    Objects
	finalizing bool
	controller []byte // Metacontroller's configuration, which is not checked; nil for none

	encoded map[Object]encodedChild // desired children
	waiting map[AnsweredChild]bool  // those that are left out until their workload is a child
	buffer  *[]byte                 // has what is encoded, until release
}

// buffers have the parts of answers until those are put together.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// mostKept is the size of the largest buffer that is kept for other requests.
const mostKept = 256 << 10

// appendWith appends to the buffer of the request. What was appended before stays where it is.
func (req *request) appendWith(add func(b []byte) ([]byte, error)) (err error) {
	if req.buffer == nil {
		req.buffer = buffers.Get().(*[]byte)
	}
	*req.buffer, err = add(*req.buffer)
	return err
}

// release ends the use of all that was encoded.
func (req *request) release() {
	if req.buffer != nil && cap(*req.buffer) <= mostKept {
		*req.buffer = (*req.buffer)[:0]
		buffers.Put(req.buffer)
	}
	req.buffer, req.encoded = nil, nil
}

// encode returns a desired child in its wire form.
func (req *request) encode(child Object) (desired encodedChild, err error) {
	err = req.appendWith(func(b []byte) ([]byte, error) {
		b, desired, err = encode(b, child)
		return b, err
	})
	if err != nil {
		return desired, err
	}
	if req.encoded == nil {
		req.encoded = map[Object]encodedChild{}
	}
	req.encoded[child] = desired
	return desired, nil
}

// readRequest reads a request and checks that every object in it has a unique
// identity. With a [RequestError] it returns the part that could be read.
func (c Controller) readRequest(hook HookName, body []byte) (*request, error) {
	req := &request{}
	r := reader{rawjson.NewReader(body)}
	defer r.Release()
	err := r.Members(func(name []byte) (err error) {
		switch {
		case string(name) == "parent":
			return c.readParent(hook, r, req)
		case string(name) == "controller":
			req.controller, err = r.Value()
			return err
		case hook == CustomizeHook:
			return r.Skip()
		case string(name) == "children":
			req.children, err = r.objects("children", req.Namespace, func(key string) reflect.Type {
				if hook.isLenient() {
					return nil // a teardown goes on whatever cannot be decoded
				}
				child, _ := c.childOf(key)
				return child.DecodeAs
			})
			return err
		case string(name) == "related":
			if r.Kind() == 'n' {
				return r.Skip()
			}
			req.related, err = r.objects("related", req.Namespace, func(string) reflect.Type { return nil })
			return err
		case string(name) == "finalizing":
			req.finalizing = r.Kind() == 't'
		}
		return r.Skip()
	})
	if errors.Is(err, rawjson.ErrKind) {
		err = badRequest("the request has no parent object")
	}
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return req, notUnderstood(err)
	}
	return req, c.check(hook, req)
}

func notUnderstood(err error) error {
	var semantic *json.SemanticError
	switch {
	case IsRequestError(err):
		return err
	case errors.As(err, &semantic):
		return unreadable(err)
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return badRequest("the request body is not valid JSON at byte %d: %s", syntax.ByteOffset, strings.TrimPrefix(syntax.Err.Error(), "jsontext: "))
	}
	return badRequest("the request body is not valid JSON: %s", err)
}

// readParent reads the parent, and refuses another kind.
func (c Controller) readParent(hook HookName, r reader, req *request) (err error) {
	expected := Snapshot{APIVersion: c.Parent.APIVersion, Kind: c.Parent.Kind}
	if req.parent, err = r.object(&expected, reflect.Value{}); err != nil {
		return err
	}
	parent := &req.parent
	if err := parent.check(hook.isLenient()); err != nil {
		return badRequest("the parent %s", err)
	}
	req.Namespace, req.Name, req.UID = parent.Namespace, parent.Name, parent.UID
	if parent.APIVersion != c.Parent.APIVersion || parent.Kind != c.Parent.Kind {
		return badRequest("the parent is not a %s of %s", c.Parent.Kind, c.Parent.APIVersion)
	}
	req.Generation, _ = strconv.ParseInt(string(parent.generation), 10, 64) // the hook refuses another value
	return nil
}

// check makes sure that a request is complete, and that Metacontroller watches the kinds that the
// Controller declares. Children of a declared kind that is not watched would be
// created and never observed; children of a watched kind that is not declared
// would be deleted, because no answer can contain them.
func (c Controller) check(hook HookName, req *request) error {
	if req.parent.raw == nil {
		return badRequest("the request has no parent object")
	}
	if hook == CustomizeHook {
		return nil
	}
	if req.children.byKind == nil {
		return badRequest("children is not an object of objects by kind")
	}
	for i, objects := range []Objects{req.children, req.related} {
		name := []string{"children", "related"}[i]
		for kind, list := range objects.byKind {
			if err := req.checkList(name, kind, list, hook.isLenient()); err != nil {
				return err
			}
		}
	}
	for _, child := range c.Children {
		if _, ok := req.children.byKind[child.Key()]; !ok {
			return badRequest("the request has no children of kind %q: its CompositeController does not watch them", child.Key())
		}
	}
	for key, objects := range req.children.byKind {
		if _, isDeclared := c.childOf(key); len(objects) > 0 && !isDeclared {
			return badRequest("the request has children of kind %.100q, which %s does not declare", key, c.Name())
		}
	}
	for _, kind := range c.Related {
		if !kind.Informs && !req.related.Includes(kind.Resource) {
			return badRequest("the request has no related objects of kind %q: its CompositeController has no customize hook", kind.Key())
		}
	}
	if req.finalizing != (hook == FinalizeHook) {
		return badRequest(`the %s hook was called with "finalizing": %t`, hook, req.finalizing)
	}
	return nil
}

// checkList checks the objects of a kind, and puts them in the order of their names. A lenient
// hook needs no more than their identities.
func (req *request) checkList(field, kind string, list []Snapshot, lenient bool) error {
	for i := range list {
		s := &list[i]
		err := s.check(lenient)
		switch {
		case err != nil:
		case len(kind) != len(s.Kind)+1+len(s.APIVersion) || !strings.HasPrefix(kind, s.Kind) || !strings.HasSuffix(kind, s.APIVersion):
			err = errors.New("is of another kind")
		case field == "children" && req.Namespace != "" && s.Namespace != "" && s.Namespace != req.Namespace:
			err = errors.New("is not in the parent's namespace")
		}
		if err != nil {
			return badRequest("%s[%.100q]: %.100q %s", field, kind, cmp.Or(s.Name, s.key), err)
		}
	}
	order := func(a, b Snapshot) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	}
	if !slices.IsSortedFunc(list, order) {
		slices.SortFunc(list, order)
	}
	for i := 1; i < len(list); i++ {
		if order(list[i-1], list[i]) == 0 {
			return badRequest("%s[%.100q]: %.100q stands twice", field, kind, list[i].Name)
		}
	}
	return nil
}

// decode decodes a raw object as the API server would: names are
// case-sensitive, integers stay integers, unknown fields are ignored.
func decode(raw []byte, into any) error {
	target := reflect.ValueOf(into).Elem()
	if !rawjson.HasMembers(target.Type()) {
		return unreadable(rawjson.Decode(raw, into))
	}
	r := reader{rawjson.NewReader(raw)}
	defer r.Release()
	_, err := r.object(&Snapshot{}, target)
	return unreadable(err)
}

// unreadable returns what is wrong with a value, without the value: it must not reach an event.
func unreadable(err error) error {
	var semantic *json.SemanticError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &semantic):
		return badRequest("it is of another kind than is wanted")
	}
	path := cmp.Or(strings.ReplaceAll(strings.TrimPrefix(string(semantic.JSONPointer), "/"), "/", "."), "it")
	return badRequest("%.200s is no valid %s", path, strings.TrimPrefix(semantic.GoType.String(), "*"))
}
