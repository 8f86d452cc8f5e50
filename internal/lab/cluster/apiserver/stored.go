package apiserver

import (
	"encoding/json"
	"maps"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// stored is a version of an object. It is replaced and never modified.
type stored struct {
	object    kube.Object
	rest      *encoded // all but metadata and status, which is shared by versions
	json      json.RawMessage
	mergeable *typed.TypedValue // for server-side apply, once it was needed
	// applied are the fields of server-side apply that nobody else has written since.
	applied *fieldpath.Set
	config  *Configuration // that was applied last, unless the applier has written since
	// others are the fields of other managers, of an object that was loaded.
	others fieldpath.ManagedFields
}

type encoded struct {
	members map[string]any
	json    []byte
}

// newStored returns a version of an object that follows another one, or nil.
func newStored(object kube.Object, former *stored) *stored {
	rest := maps.Clone(object.Object)
	delete(rest, "metadata")
	delete(rest, "status")
	if former != nil && kube.EqualMaps(rest, former.rest.members) {
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

func appendJSON(b []byte, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was JSON when it came
	}
	return append(b, text...)
}
