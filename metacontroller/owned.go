package metacontroller

import (
	"encoding/json"
	"strconv"
	"strings"
)

// ownership reads managed fields. They are read as they stand, side by side with
// the object, because a user can write 20,000 of them: the sets of
// structured-merge-diff take a time that grows with the square of their number,
// and cannot be told to stop.
type ownership struct {
	run   *run
	count int
	level int
	added bool
	lists map[*any]*listIndex // by the first item
}

// add selects what the fields of one owner name in a value, and reports whether
// they name nothing within it. A field that the value does not have, or that
// cannot be read, is left out.
func (o *ownership) add(f *fieldSet, fields []byte, observed any) (isLeaf bool) {
	o.added, isLeaf = true, true
	if o.count++; o.run.counted(o.count, 0) != nil || f.whole || o.level == mostLevels {
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

// at returns the selection at an element of a path, which it adds where there is
// none, and the value there, or nil where there is no such value.
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

// place returns the index of the item that an element of a path names.
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

// listIndex finds the items of a list without a look at each.
type listIndex struct {
	list    []any
	byNames map[string]map[string]int // the places by the text of a value or key
}

// mostKeys is the number of ways in which the items of one list may be named.
// Kubernetes names those of a list in one.
const mostKeys = 4

const (
	// mostKeyNames is the number of names in the key of an item. Kubernetes has
	// keys of three.
	mostKeyNames = 8
	// mostLevels is how deep in an object a field may be to be told from the
	// others. Kubernetes' own objects have about 15 levels. What is deeper counts
	// as a whole.
	mostLevels = 64
)

// find returns the first item that has a value, as part takes it from an item.
// The names tell apart the ways of taking it.
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

// textOf returns the text of a decoded value. Equal values have the same.
func textOf(value any) string {
	text, _ := json.Marshal(value) // it was decoded from such a text
	return string(text)
}
