// Package applied tells which fields of an observed object Metacontroller applied last. Under
// dynamic-apply it keeps them in an annotation, under server-side apply the API server keeps them
// in managedFields. Users can write both: a forged value can add or remove fields that are
// told, but never a value that the object does not have.
package applied

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Object is an observed object, decoded, with what tells of the fields that were applied.
type Object struct {
	// Content has integers as int64.
	Content map[string]any
	// LastApplied is the text of Metacontroller's annotation, or empty.
	LastApplied string
	// Managed are metadata.managedFields in JSON, or nil.
	Managed []byte
	// Marks are paths in managedFields, of which each child of Metacontroller has one: the name of
	// its field manager is configurable.
	Marks [][]string
	// Decode decodes JSON with integers as int64.
	Decode func(text []byte, into any) error
}

// managedFields is an entry of metadata.managedFields.
type managedFields struct {
	Operation   metav1.ManagedFieldsOperationType `json:"operation"`
	Subresource string                            `json:"subresource"`
	Fields      map[string]any                    `json:"fieldsV1"`
}

// Fields returns the fields that were applied last, with the values that the object has.
//
// Where the annotation and managedFields both name fields, all of them count, because a field
// that is left out is removed. Where neither does, there are none: Metacontroller removes
// only fields that one of the two lists.
func (o Object) Fields() map[string]any {
	selected := o.annotated()
	isAnnotated := selected != nil
	if !isAnnotated {
		selected = &fieldSet{}
	}
	var entries []managedFields
	if o.Managed != nil && o.Decode(o.Managed, &entries) == nil {
		for _, entry := range entries {
			isApply := entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == ""
			if isApply && (!isAnnotated || o.isMarked(entry.Fields)) {
				selected.addOwned(entry.Fields, o.Content)
			}
		}
		selected.sort() // the API server sorts the list differently after a change
	}
	return asObject(selected.of(o.Content))
}

// AnnotatedFields returns those of the annotation alone, and false where it cannot be read.
func (o Object) AnnotatedFields() (map[string]any, bool) {
	selected := o.annotated()
	if selected == nil {
		return nil, false
	}
	return asObject(selected.of(o.Content)), true
}

func asObject(value any) map[string]any {
	object, _ := value.(map[string]any)
	return object
}

// isMarked reports whether fields are those of Metacontroller.
func (o Object) isMarked(fields map[string]any) bool {
	return slices.ContainsFunc(o.Marks, func(path []string) bool {
		at := fields
		for _, name := range path {
			next, isThere := at["f:"+name].(map[string]any)
			if at = next; !isThere {
				return false
			}
		}
		return true
	})
}

// annotated returns the fields of the annotation, or nil if it cannot be read.
func (o Object) annotated() *fieldSet {
	var applied map[string]any
	if o.Decode([]byte(o.LastApplied), &applied) != nil || applied == nil {
		return nil
	}
	selected := &fieldSet{}
	selected.addApplied(applied, o.Content)
	return selected
}

// fieldSet selects fields of one observed object. It holds no values: those are
// read from the object.
type fieldSet struct {
	whole  bool // the value with everything in it
	fields map[string]*fieldSet
	items  []*itemSet // of a list, in the order in which they are added
}

// itemSet selects fields of the item of a list.
type itemSet struct {
	fieldSet

	index int
}

// field returns the selection within a member, and adds it where there is none.
func (f *fieldSet) field(name string) *fieldSet {
	if f.fields == nil {
		f.fields = map[string]*fieldSet{}
	}
	if f.fields[name] == nil {
		f.fields[name] = &fieldSet{}
	}
	return f.fields[name]
}

// item returns the selection within an item, and adds it where there is none.
func (f *fieldSet) item(index int) *fieldSet {
	for _, item := range f.items {
		if item.index == index {
			return &item.fieldSet
		}
	}
	item := &itemSet{index: index}
	f.items = append(f.items, item)
	return &item.fieldSet
}

// of returns the selected fields of a value. A field that the value does not
// have is left out.
func (f *fieldSet) of(observed any) any {
	if f.whole {
		return observed
	}
	switch observed := observed.(type) {
	case map[string]any:
		selected := make(map[string]any, len(f.fields))
		for name, field := range f.fields {
			if member, found := observed[name]; found {
				selected[name] = field.of(member)
			}
		}
		return selected
	case []any:
		selected := make([]any, 0, len(f.items))
		for _, item := range f.items {
			selected = append(selected, item.of(observed[item.index]))
		}
		return selected
	default:
		return observed
	}
}

// addApplied selects the fields of a last-applied configuration.
func (f *fieldSet) addApplied(applied, observed any) {
	switch applied := applied.(type) {
	case map[string]any:
		object, ok := observed.(map[string]any)
		if !ok {
			break
		}
		for name, member := range applied {
			if current, found := object[name]; found {
				f.field(name).addApplied(member, current)
			}
		}
		return
	case []any:
		if list, ok := observed.([]any); ok {
			f.addAppliedItems(applied, list)
			return
		}
	}
	f.whole = true // a scalar, or a value whose type has changed
}

// addAppliedItems selects the items of a list. They are matched as
// Metacontroller matches them: by a key that all of them have, or else by their
// index. A list whose length has changed, or with a duplicate key, is selected
// as a whole.
func (f *fieldSet) addAppliedItems(applied, observed []any) {
	key := mergeKey(applied, observed)
	if key == "" {
		if len(applied) != len(observed) {
			f.whole = true
			return
		}
		for i := range applied {
			f.item(i).addApplied(applied[i], observed[i])
		}
		return
	}
	for _, item := range applied {
		wanted := scalar(item, key)
		if i := slices.IndexFunc(observed, func(item any) bool { return scalar(item, key) == wanted }); i >= 0 {
			f.item(i).addApplied(item, observed[i])
		}
	}
}

// mergeKeys are the names by which Metacontroller matches the items of a list,
// the first that all items have.
// https://github.com/metacontroller/metacontroller/blob/v4.17.2/pkg/dynamic/apply/apply.go
var mergeKeys = [...]string{"containerPort", "port", "mountPath", "name", "uid", "ip", "path"}

// mergeKey returns the name of the field that identifies the items of each
// list, or "".
func mergeKey(lists ...[]any) string {
	for _, key := range mergeKeys {
		isKey := true
		for _, list := range lists {
			seen := make(map[any]bool, len(list))
			for _, item := range list {
				value := scalar(item, key)
				isKey = isKey && value != nil && !seen[value]
				seen[value] = true
			}
		}
		if isKey {
			return key
		}
	}
	return ""
}

// scalar returns the member of an object that is a string or a number, or nil.
func scalar(item any, name string) any {
	object, _ := item.(map[string]any)
	switch member := object[name].(type) {
	case string, int64, float64:
		return member
	default:
		return nil
	}
}

// addOwned selects the fields of managedFields, and reports whether there are none inside of
// the value. A field that the value does not have is left out.
func (f *fieldSet) addOwned(owned map[string]any, observed any) (isLeaf bool) {
	isLeaf = true
	for element, inner := range owned {
		below, isFields := inner.(map[string]any)
		if element == "." || !isFields {
			continue
		}
		isLeaf = false
		selected, value := f.at(element, observed)
		if selected != nil && selected.addOwned(below, value) && selected.fields == nil && selected.items == nil {
			selected.whole = true
		}
	}
	return isLeaf
}

// at returns the selection and the value at an element of a path in managedFields. It adds the
// selection if it is missing; the value is nil if there is none.
// https://github.com/kubernetes-sigs/structured-merge-diff/blob/v6.3.3/fieldpath/serialize-pe.go
func (f *fieldSet) at(element string, observed any) (*fieldSet, any) {
	kind, rest, _ := strings.Cut(element, ":")
	switch observed := observed.(type) {
	case map[string]any:
		if member, found := observed[rest]; found && kind == "f" {
			return f.field(rest), member
		}
	case []any:
		if i := place(kind, rest, observed); i >= 0 && i < len(observed) {
			return f.item(i), observed[i]
		}
	}
	return nil, nil
}

// place returns the index of the item that an element of a path names, or -1.
func place(kind, element string, list []any) int {
	var wanted any
	switch {
	case kind == "i":
		if i, err := strconv.Atoi(element); err == nil {
			return i
		}
	case json.Unmarshal([]byte(element), &wanted) != nil:
	case kind == "v":
		return slices.IndexFunc(list, func(item any) bool { return isSame(item, wanted) })
	case kind == "k":
		key, _ := wanted.(map[string]any)
		return slices.IndexFunc(list, func(item any) bool { return len(key) > 0 && hasKey(item, key) })
	}
	return -1
}

// hasKey reports whether an item has all members of a key.
func hasKey(item any, key map[string]any) bool {
	object, _ := item.(map[string]any)
	for name, value := range key {
		if member, found := object[name]; !found || !isSame(member, value) {
			return false
		}
	}
	return true
}

// isSame compares a value of the object with one of a path, in which numbers are floats.
func isSame(observed, wanted any) bool {
	if whole, isWhole := observed.(int64); isWhole {
		observed = float64(whole)
	}
	return reflect.DeepEqual(observed, wanted)
}

// sort puts the items of all lists in the order in which they were observed.
func (f *fieldSet) sort() {
	for _, field := range f.fields {
		field.sort()
	}
	slices.SortFunc(f.items, func(a, b *itemSet) int { return cmp.Compare(a.index, b.index) })
	for _, item := range f.items {
		item.sort()
	}
}
