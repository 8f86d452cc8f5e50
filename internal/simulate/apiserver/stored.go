package apiserver

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/operetta-dev/operetta/internal/wire"
)

// stored is a version of an object. It is replaced and never modified.
type stored struct {
	object Object
	rest   *encoded // all but metadata and status, which is shared by versions
	json   json.RawMessage
	weighs int
	// typed is the object as a Go type, once that was needed, and never modified.
	typed     any
	mergeable *typed.TypedValue // for server-side apply, once it was needed
	// applied are the fields of server-side apply that nobody else has written
	// since.
	applied *fieldpath.Set
	config  *Configuration // that was applied last, unless the applier has written since
}

// encoded are members of an object, with their JSON and size once they are needed.
type encoded struct {
	members map[string]any
	json    []byte
	weighs  int
}

// newStored returns a version of an object that follows another one, or nil.
func newStored(object Object, former *stored) *stored {
	rest := maps.Clone(object.Object)
	delete(rest, "metadata")
	delete(rest, "status")
	if former != nil && equalMaps(rest, former.rest.members) {
		return &stored{object: object, rest: former.rest}
	}
	return &stored{object: object, rest: &encoded{members: rest}}
}

// JSON returns the object's JSON.
func (s *stored) JSON() json.RawMessage {
	if s.json != nil {
		return s.json
	}
	if s.rest.json == nil {
		s.rest.json = appendJSON(nil, s.rest.members)
	}
	b := make([]byte, 0, 2*len(s.rest.json))
	b = append(b, s.rest.json[:len(s.rest.json)-1]...)
	for _, name := range []string{"metadata", "status"} {
		if value, found := s.object.Object[name]; found {
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), name...), '"', ':')
			b = appendJSON(b, value)
		}
	}
	s.json = append(b, '}')
	return s.json
}

// appendJSON appends the JSON of a value, as [json.Marshal] writes it.
func appendJSON(b []byte, value any) []byte {
	switch value := value.(type) {
	case map[string]any:
		b = append(b, '{')
		for i, key := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(wire.AppendString(b, key), ':')
			b = appendJSON(b, value[key])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range value {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	case string:
		return wire.AppendString(b, value)
	case int64:
		return strconv.AppendInt(b, value, 10)
	default:
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // it was JSON when it came
		}
		return append(b, text...)
	}
}

// weight returns the approximate size of the object's text, and nothing for none.
func (s *stored) weight() int {
	if s == nil {
		return 0
	}
	if s.weighs == 0 {
		if s.rest.weighs == 0 {
			s.rest.weighs = textOf(s.rest.members)
		}
		s.weighs = s.rest.weighs + textOf(s.object.Object["metadata"]) + textOf(s.object.Object["status"])
	}
	return s.weighs
}

// textOf returns the approximate size of a value.
func textOf(value any) int {
	const part = 8
	switch value := value.(type) {
	case map[string]any:
		total := part
		for key, member := range value {
			total += len(key) + textOf(member)
		}
		return total
	case []any:
		total := part
		for _, item := range value {
			total += textOf(item)
		}
		return total
	case string:
		return part + len(value)
	default:
		return part
	}
}
