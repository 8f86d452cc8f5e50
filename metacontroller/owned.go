package metacontroller

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// itself stands in managed fields for the value that they are about, beside
// members of it.
const itself = "."

// owns reports whether managed fields name a field.
func owns(owned map[string]any, path ...string) bool {
	for _, name := range path {
		member, found := owned["f:"+name]
		if !found {
			return false
		}
		owned, _ = member.(map[string]any)
	}
	return true
}

// addOwned selects what managed fields name. They are walked through together
// with the observed value, so that names of what it does not have cost nothing.
func (f *fieldSet) addOwned(owned map[string]any, observed any) {
	for _, name := range slices.Sorted(maps.Keys(owned)) {
		if f.whole {
			return
		}
		within, isObject := owned[name].(map[string]any)
		if name == itself || !isObject {
			continue
		}
		element, err := fieldpath.DeserializePathElement(name)
		if err != nil {
			continue
		}
		selected, member := f.at(element, observed)
		if selected == nil {
			continue
		}
		_, hasItself := within[itself]
		if len(within) == 0 || len(within) == 1 && hasItself {
			selected.whole = selected.fields == nil && selected.items == nil
			continue
		}
		selected.addOwned(within, member)
	}
}

// at returns the selection of an element of an observed value and the element,
// or nil where the value does not have it.
func (f *fieldSet) at(element fieldpath.PathElement, observed any) (*fieldSet, any) {
	if element.FieldName != nil {
		object, _ := observed.(map[string]any)
		member, found := object[*element.FieldName]
		if !found {
			return nil, nil
		}
		return f.field(*element.FieldName), member
	}
	list, _ := observed.([]any)
	i := -1
	switch {
	case element.Index != nil:
		i = *element.Index
	case element.Value != nil:
		i = f.places.of(list, "", textOf((*element.Value).Unstructured()), textOf)
	case element.Key != nil:
		i = f.places.ofKey(list, *element.Key)
	}
	if i < 0 || i >= len(list) {
		return nil, nil
	}
	return f.item(i), list[i]
}

// places tell where in a list an item is: by the names of its key, and then by
// their values. The empty name stands for an item that is its own key.
type places map[string]map[string]int

// mostKeys is how many kinds of keys one list may be asked for. The items of a
// list that the API server knows have one.
const mostKeys = 4

// of returns the index of the first item with a key, or -1. An item of which
// keyOf returns nothing has none.
func (p *places) of(list []any, names, key string, keyOf func(item any) string) int {
	if *p == nil {
		*p = places{}
	}
	known := (*p)[names]
	if known == nil {
		if len(*p) == mostKeys {
			return -1
		}
		known = make(map[string]int, len(list))
		for i, item := range list {
			text := keyOf(item)
			if _, taken := known[text]; !taken && text != "" {
				known[text] = i
			}
		}
		(*p)[names] = known
	}
	if i, found := known[key]; found {
		return i
	}
	return -1
}

// ofKey returns the index of the first item whose members have the values of a
// key, or -1.
func (p *places) ofKey(list []any, key value.FieldList) int {
	names := make([]string, len(key))
	values := make([]any, len(key))
	for i, field := range key {
		names[i], values[i] = field.Name, field.Value.Unstructured()
	}
	return p.of(list, strings.Join(names, "\n")+"\n", textOf(values), func(item any) string {
		object, _ := item.(map[string]any)
		own := make([]any, len(names))
		for i, name := range names {
			member, found := object[name]
			if !found {
				return ""
			}
			own[i] = member
		}
		return textOf(own)
	})
}

// textOf returns a text that is the same for equal values.
func textOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}
