package compact

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/operetta-dev/operetta/internal/jsonfields"
	"github.com/operetta-dev/operetta/metacontroller"
)

// rule says what is kept of a JSON value. A nil rule keeps everything.
type rule struct {
	empty   bool             // only the type is kept
	shallow bool             // only the type is kept of what is nested too deep
	members map[string]*rule // of an object, or of each object in a list
	others  *rule            // of the members that are not among these
}

// of returns the rule for a member.
func (r *rule) of(key string) *rule {
	if member, ok := r.members[key]; ok {
		return member
	}
	return r.others
}

var nothing = &rule{empty: true}

// whole is for an object that is kept in full, but for managed fields that are nested deeper
// than those of an API server, and those of what it is to make, which nobody reads: with them it
// could not be decoded.
var whole = &rule{members: map[string]*rule{"metadata": {members: map[string]*rule{"managedFields": {shallow: true}}}, "spec": toMake}}

// toMake is for the spec of a workload with templates.
var toMake = &rule{members: map[string]*rule{
	"template":             {members: map[string]*rule{"metadata": unmanagedMetadata}},
	"volumeClaimTemplates": {members: map[string]*rule{"metadata": unmanagedMetadata}},
}}

var unmanagedMetadata = &rule{members: map[string]*rule{"managedFields": nothing}}

// requestRule returns what a Controller's hooks read of a request. The parent
// is kept in full, and so are children that an answer may restate.
func requestRule(c metacontroller.Controller) *rule {
	children := map[string]*rule{}
	for _, child := range c.Children {
		switch {
		case child.Update != metacontroller.OnDelete:
			children[child.Key()] = &rule{others: whole}
		case child.Reads != nil:
			children[child.Key()] = &rule{others: readRule(child.Reads)}
		default:
			children[child.Key()] = &rule{others: unmanaged()}
		}
	}
	return &rule{members: map[string]*rule{
		"parent":   whole,
		"children": {members: children},
		"related":  {members: contestedRules(c), others: &rule{others: unmanaged()}},
	}}
}

// contestedRules returns the rules for related objects that are only selected
// by the names of children: only their identity and their controller are read.
func contestedRules(c metacontroller.Controller) map[string]*rule {
	rules := map[string]*rule{}
	for _, child := range c.Children {
		if !child.Contested || slices.Contains(c.Related, child.Resource) {
			continue
		}
		object := newReadRule(reflect.TypeFor[struct{}]())
		object.object("metadata").add("ownerReferences")
		rules[child.Key()] = &rule{others: object}
	}
	return rules
}

// unmanaged returns the rule for an object that no answer restates: everything
// except managedFields and the like.
func unmanaged() *rule {
	return &rule{members: map[string]*rule{"spec": toMake, "metadata": {members: map[string]*rule{
		"managedFields": nothing,
		"annotations":   {members: map[string]*rule{metacontroller.LastAppliedAnnotation: nothing}},
	}}}}
}

// readRule returns the rule for an object that a hook decodes into a Go type,
// and metacontroller for its identity. It is not to be modified.
func readRule(t reflect.Type) *rule {
	if known, ok := readRules.Load(t); ok {
		return known.(*rule)
	}
	r := newReadRule(t)
	readRules.Store(t, r)
	return r
}

var readRules sync.Map // of reflect.Type to *rule

func newReadRule(t reflect.Type) *rule {
	read := rules{}.of(t)
	if read == nil { // a map, or a type that decodes itself
		return unmanaged()
	}
	object := read.clone()
	object.add("apiVersion")
	object.add("kind")
	metadata := object.object("metadata")
	for _, name := range []string{"name", "namespace", "uid", "generation", "deletionTimestamp"} {
		metadata.add(name)
	}
	metadata.object("annotations").add(metacontroller.HashAnnotation)
	object.object("status").add("observedGeneration")
	return object
}

func (r *rule) add(name string) { r.members[name] = nil }

func (r *rule) clone() *rule {
	clone := *r
	clone.members = maps.Clone(r.members)
	return &clone
}

// object returns the rule of a member that is an object with some members to
// keep, which is of this rule alone.
func (r *rule) object(name string) *rule {
	member, ok := r.members[name]
	switch {
	case ok && member == nil: // it is kept in full
		return &rule{members: map[string]*rule{}}
	case !ok:
		member = &rule{members: map[string]*rule{}, others: nothing}
	default:
		member = member.clone()
	}
	r.members[name] = member
	return member
}

// rules are those of types, so that one that has itself in it ends.
type rules map[reflect.Type]*rule

// of returns the rule that keeps the fields of a Go type, as encoding/json
// names them.
func (r rules) of(t reflect.Type) *rule {
	if known, ok := r[t]; ok {
		return known
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Name() != "" {
			r[t] = nil // it may be a list of itself
		}
		return r.of(t.Elem())
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	made := &rule{members: map[string]*rule{}, others: nothing}
	r[t] = made
	for _, field := range jsonfields.Of(t) {
		if field.Name == "managedFields" { // of a template
			made.members[field.Name] = nothing
		} else {
			made.members[field.Name] = r.of(field.Type)
		}
	}
	return made
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()
