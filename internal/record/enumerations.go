package record

import (
	"sync"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/metacontroller"
)

// enumerations has the words of each enumeration in the spec of a CRD, by the name of the field.
// Whoever has the CRD knows them.
type enumerations map[string]map[string]bool

// enumerationsByCRD has what has been read, by the first byte of a CRD, which does not change.
var enumerationsByCRD sync.Map // of *byte to enumerations

// enumerationsOf returns those of a Controller. One without a CRD has none.
func enumerationsOf(c metacontroller.Controller) enumerations {
	if len(c.CRD) == 0 {
		return nil
	}
	if known, ok := enumerationsByCRD.Load(&c.CRD[0]); ok {
		return known.(enumerations)
	}
	found := enumerations{}
	if schema, err := crd.Written(c.CRD, c.Parent.Version()); err == nil {
		properties, _ := schema["properties"].(map[string]any)
		spec, _ := properties["spec"].(map[string]any)
		found.look(spec, "")
	}
	enumerationsByCRD.Store(&c.CRD[0], found)
	return found
}

// look notes the enumerations of a schema, which is that of a field, of its items or of the values
// of a map.
func (e enumerations) look(schema map[string]any, field string) {
	if words, ok := schema["enum"].([]any); ok {
		if e[field] == nil {
			e[field] = map[string]bool{}
		}
		for _, word := range words {
			if text, ok := word.(string); ok {
				e[field][text] = true
			}
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[keyword].(map[string]any); ok {
			e.look(inner, field)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		if inner, ok := property.(map[string]any); ok {
			e.look(inner, name)
		}
	}
}
