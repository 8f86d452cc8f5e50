package metacontroller

import (
	"encoding/json"
	"strconv"
	"strings"
)

// ownership reads managedFields in place, in parallel with the object. A user
// can write 20,000 fields there, and the sets of structured-merge-diff take
// quadratic time and cannot be canceled.
type ownership struct {
	run   *run
	count int
	level int
	added bool
	lists map[*any]*listIndex // by the first item
}

// add selects the fields of a value that one owner lists, and reports whether
// it lists none inside of it. A field that the value does not have, or that
// cannot be read, is left out.
func (o *ownership) add(f *fieldSet, fields []byte, observed any) (isLeaf bool) {
	o.added, isLeaf = true, true
	if o.count++; o.run.spendEach(o.count, 0) != nil || f.whole || o.level == mostLevels {
		return true
	}
	o.level++
	defer func() { o.level-- }()
	members(fields, func(key, value []byte) bool {
		element := string(key)
		if element == "." {
			return true
		}
		isLeaf = false
		if !isObject(value) {
			return true
		}
		selected, inner := o.at(f, element, observed)
		if selected != nil && o.add(selected, value, inner) && selected.fields == nil && selected.items == nil {
			selected.whole = true
		}
		return true
	})
	return isLeaf
}

// at returns the selection and the value at a path element. It adds the
// selection if it is missing; the value is nil if there is none.
func (o *ownership) at(f *fieldSet, element string, observed any) (*fieldSet, any) {
	kind, rest, _ := strings.Cut(element, ":")
	switch observed := observed.(type) {
	case map[string]any:
		if member, found := observed[rest]; found && kind == "f" {
			return f.field(rest), member
		}
	case []any:
		if i, found := o.place(kind, rest, observed); found {
			return f.item(i), observed[i]
		}
	}
	return nil, nil
}

// place returns the index of the item that a path element names.
func (o *ownership) place(kind, element string, list []any) (int, bool) {
	if kind == "i" {
		i, err := strconv.Atoi(element)
		return i, err == nil && i >= 0 && i < len(list)
	}
	var wanted any
	if len(list) == 0 || kind != "k" && kind != "v" || decode([]byte(element), &wanted) != nil {
		return 0, false
	}
	index := o.lists[&list[0]]
	if index == nil {
		index = &listIndex{list: list, byNames: map[string]map[string]int{}}
		o.lists[&list[0]] = index
	}
	if kind == "v" {
		return index.find("", wanted, func(item any) any { return item })
	}
	key, ok := wanted.(map[string]any)
	if !ok || len(key) == 0 || len(key) > mostKeyNames {
		return 0, false
	}
	names := make(map[string]any, len(key))
	for name := range key {
		names[name] = true
	}
	return index.find(textOf(names), key, func(item any) any {
		object, _ := item.(map[string]any)
		values := make(map[string]any, len(names))
		for name := range names {
			if value, found := object[name]; found {
				values[name] = value
			}
		}
		return values
	})
}

// listIndex finds the items of a list without a linear search.
type listIndex struct {
	list    []any
	byNames map[string]map[string]int // the index by the text of a value or key
}

// mostKeys is the number of different key sets for the items of one list.
// Kubernetes uses one for each list.
const mostKeys = 4

const (
	// mostKeyNames is the number of fields in the key of an item. Kubernetes
	// has keys of three.
	mostKeyNames = 8
	// mostLevels is how deep fields are told apart. Kubernetes' own objects
	// have about 15 levels. Anything deeper is selected as a whole.
	mostLevels = 64
)

// find returns the first item for which part returns the wanted value. The
// names identify the part function in the index.
func (l *listIndex) find(names string, wanted any, part func(item any) any) (int, bool) {
	places := l.byNames[names]
	if places == nil {
		if len(l.byNames) == mostKeys {
			return 0, false
		}
		places = make(map[string]int, len(l.list))
		for i, item := range l.list {
			text := textOf(part(item))
			if _, twice := places[text]; !twice {
				places[text] = i
			}
		}
		l.byNames[names] = places
	}
	i, found := places[textOf(wanted)]
	return i, found
}

// textOf returns the JSON of a decoded value. Equal values have equal texts.
func textOf(value any) string {
	text, _ := json.Marshal(value) // it was decoded from JSON
	return string(text)
}
