package hooks_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// place is where a case sets a field.
type place struct {
	*reachCase

	path  []any // from the request on, of names and numbers
	value any
}

// inner returns the places of a member where it is set, or with "[]" those of all entries of a list
// or map.
func inner(places []place, member string) (found []place) {
	for _, p := range places {
		switch value := p.value.(type) {
		case object:
			for name, at := range value {
				if name == member || member == "[]" {
					found = append(found, place{p.reachCase, append(slices.Clone(p.path), name), at})
				}
			}
		case []any:
			for i, at := range value {
				found = append(found, place{p.reachCase, append(slices.Clone(p.path), i), at})
			}
		}
	}
	return found
}

// fieldsSet are the places that set each field, by its path.
type fieldsSet map[string][]place

// add adds the fields below a value of a type. Kubernetes' own types are copied as a whole, but for
// the template of a Pod. Fields of a struct that have one struct as their type (all services) are
// read alike: what is below them is one field.
func (f fieldsSet) add(t reflect.Type, name string, places []place) {
	switch {
	case t == reflect.TypeFor[corev1.PodTemplateSpec]():
		metadata := inner(places, "metadata")
		f[name+".metadata.labels"] = inner(metadata, "labels")
		f[name+".metadata.annotations"] = inner(metadata, "annotations")
		f[name+".spec"] = inner(places, "spec")
	case isWhole(t):
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		f.add(pointedTo(t.Elem()), name+"[]", inner(places, "[]"))
	case t.Kind() == reflect.Struct:
		all := members(t)
		names := slices.Sorted(maps.Keys(all))
		for _, member := range names {
			f[name+"."+member] = inner(places, member)
			alike := slices.DeleteFunc(slices.Clone(names), func(other string) bool {
				return other != member && (all[other] != all[member] || all[member].Kind() != reflect.Struct)
			})
			switch {
			case len(alike) == 1:
				f.add(all[member], name+"."+member, f[name+"."+member])
			case alike[0] == member:
				var together []place
				for _, other := range alike {
					together = append(together, inner(places, other)...)
				}
				f.add(all[member], name+".<"+all[member].Name()+">", together)
			}
		}
	}
}

// isWhole reports whether a type is Kubernetes' own, or decodes itself.
func isWhole(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "k8s.io/") || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

func pointedTo(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// members returns the types of a struct's fields by their names in JSON.
func members(t reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if options == "inline" {
			maps.Copy(all, members(t.Field(i).Type))
		} else {
			all[name] = pointedTo(t.Field(i).Type)
		}
	}
	return all
}
