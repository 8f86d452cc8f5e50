package record

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// mask replaces the strings of one request. The same string always has the same placeholder, so
// that equal strings stay equal.
type mask struct {
	numbers map[string]int // of the placeholders
	// known are the strings that are recorded as names: those of objects, their UIDs, and the
	// keys of all maps.
	known map[string]bool
	asked map[string]string // the hashes of the children in the answer, by child
}

// masked returns a request in which every string is replaced that is not known to be harmless.
// The schema is that of the parent's CRD. Its error never quotes the request.
func masked(e Exchange, schema map[string]any) (map[string]any, error) {
	request, err := decoded(e.Request)
	if err != nil {
		return nil, err
	}
	parent, isObject := request["parent"].(map[string]any)
	if !isObject {
		return nil, dropInvalid
	}
	m := &mask{numbers: map[string]int{}, known: map[string]bool{}}
	if e.Hook == metacontroller.SyncHook {
		if m.asked, err = corpus.Hashes(e.Answer); err != nil {
			return nil, dropInvalid
		}
	}
	m.learn(request)
	out := map[string]any{"parent": m.value(parent, place{isObject: true, schema: schema})}
	if isFinalizing, ok := request["finalizing"].(bool); ok {
		out["finalizing"] = isFinalizing
	}
	for _, member := range []string{"children", "related"} {
		if groups, ok := request[member].(map[string]any); ok {
			out[member] = m.groups(groups, member == "children")
		}
	}
	if related, ok := out["related"].(map[string]any); ok {
		for _, kind := range e.Controller.Related {
			if _, isSelected := related[kind.Key()]; kind.Informs && !isSelected {
				related[kind.Key()] = nil // so that replaying it does not take it for none
			}
		}
	}
	// Of Metacontroller's configuration, a hook only asks whether it has a labelSelector.
	if selector := at(request, "controller", "spec", "parentResource", "labelSelector"); selector != nil {
		out["controller"] = map[string]any{"spec": map[string]any{"parentResource": map[string]any{"labelSelector": map[string]any{}}}}
	}
	return out, nil
}

// decoded returns an object, with numbers as they are written.
func decoded(text []byte) (object map[string]any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&object) != nil || decoder.More() {
		return nil, dropInvalid
	}
	return object, nil
}

// at returns the value at a path, or nil.
func at(value any, path ...string) any {
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// learn notes the names in a value.
func (m *mask) learn(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			m.known[key] = true
			m.learn(member)
		}
		for _, name := range []string{"name", "uid"} {
			if text, ok := at(value, "metadata", name).(string); ok && isName(text) {
				m.known[text] = true
			}
		}
	case []any:
		for _, item := range value {
			m.learn(item)
		}
	}
}

// groups returns objects by kind and name.
func (m *mask) groups(groups map[string]any, areChildren bool) map[string]any {
	out := map[string]any{}
	for _, kind := range sorted(groups) {
		objects, _ := groups[kind].(map[string]any)
		group := map[string]any{}
		for _, name := range sorted(objects) {
			object, _ := objects[name].(map[string]any)
			in := place{isObject: true}
			if areChildren {
				in.child = corpus.Ref(object)
			}
			group[m.key(name)] = m.value(object, in)
		}
		out[m.key(kind)] = group
	}
	return out
}

func (m *mask) value(value any, in place) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for _, key := range sorted(value) {
			part := m
			if key == "managedFields" { // numbers of its own: it changes without a change of the object
				part = &mask{numbers: map[string]int{}, known: m.known}
			}
			out[m.key(key)] = part.value(value[key], in.enter(key))
		}
		return out
	case []any:
		if in.schema != nil {
			in = in.described(property(in.schema, "items"))
		}
		for i, item := range value {
			value[i] = m.value(item, in)
		}
		return value
	case string:
		return m.text(value, in)
	case json.Number:
		if in.rule == byUser {
			return json.Number("1")
		}
	}
	return value
}

func sorted(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }

// key returns the name of a member. Those of managed fields have a prefix.
func (m *mask) key(key string) string {
	prefix, rest, hasPrefix := strings.Cut(key, ":")
	switch {
	case isName(key), prefix == "f" && isName(rest):
		return key
	case hasPrefix && len(prefix) == 1:
		return prefix + ":" + m.placeholder(rest)
	}
	return m.placeholder(key)
}

// text returns what is recorded of a string.
func (m *mask) text(text string, in place) string {
	switch {
	case in.keeps(text), m.known[text] && in.isName(), in.isStatus && m.isReference(text):
		return text
	case in.within != "annotations":
	case in.field == metacontroller.HashAnnotation && in.child != "" && text == m.asked[in.child]:
		return corpus.AskedFor
	case in.field == metacontroller.LastAppliedAnnotation:
		return m.applied(text)
	}
	return m.shaped(text)
}

// isReference reports whether a text names an object of the request, as in Job/web.
func (m *mask) isReference(text string) bool {
	kind, name, found := strings.Cut(text, "/")
	return found && isWord(kind) && m.known[name]
}

// applied masks an annotation that holds an object as it was applied: its fields tell whose they
// are.
func (m *mask) applied(text string) string {
	object, err := decoded([]byte(text))
	if err != nil {
		return m.placeholder(text)
	}
	encoded, _ := json.Marshal(m.value(object, place{isObject: true})) // what was decoded can be encoded
	return string(encoded)
}

// placeholder returns a word that is valid as a name, as the value of a label and as a text. It
// reveals nothing about what it replaces.
func (m *mask) placeholder(text string) string {
	if m.numbers[text] == 0 {
		m.numbers[text] = len(m.numbers) + 1
	}
	return "redacted-" + strconv.Itoa(m.numbers[text])
}

// address matches the parts of an address that are no secret: scheme and port.
var address = regexp.MustCompile(`^([a-z]{2,10}://)[^/ \n]*?(:[0-9]{1,5})?(/[^ \n]*)?$`)

// shaped returns the placeholder of a string in the form that a schema may require: an address
// stays one of the same scheme and port, and a path stays a path.
func (m *mask) shaped(text string) string {
	word := m.placeholder(text)
	switch parts := address.FindStringSubmatch(text); {
	case parts != nil && parts[3] != "":
		return parts[1] + word + ".invalid" + parts[2] + "/" + word
	case parts != nil:
		return parts[1] + word + ".invalid" + parts[2]
	case strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " \n"):
		return "/" + word
	case strings.HasPrefix(text, "git@"):
		return "git@" + word + ".invalid:" + word
	}
	return word
}
