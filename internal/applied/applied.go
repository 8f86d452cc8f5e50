// Package applied tells which fields of an observed object Metacontroller applied last. Under
// dynamic-apply it keeps them in an annotation, under server-side apply the API server keeps them
// in managedFields. Users can write both: a forged value can add or remove fields that are
// told, but never a value that the object does not have.
package applied

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/rawjson"
)

// Object is an observed object, decoded, with what tells of the fields that were applied.
type Object struct {
	// Content has integers as int64.
	Content map[string]any
	// LastApplied is the text of Metacontroller's annotation, or empty.
	LastApplied string
	// Managed are metadata.managedFields in JSON, or nil.
	Managed []byte
	// Marks are paths in managedFields, as in f:spec, of which each child of Metacontroller has one:
	// the name of its field manager is configurable.
	Marks [][]string
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
	if o.Managed != nil && rawjson.Decode(o.Managed, &entries) == nil {
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
		_, isThere, _ := unstructured.NestedFieldNoCopy(fields, path...)
		return isThere
	})
}

// annotated returns the fields of the annotation, or nil if it cannot be read.
func (o Object) annotated() *fieldSet {
	var applied map[string]any
	if rawjson.Decode([]byte(o.LastApplied), &applied) != nil || applied == nil {
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
	items  map[int]*fieldSet // of a list, by index
	order  []int             // in which they are added
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
	if f.items == nil {
		f.items = map[int]*fieldSet{}
	}
	if f.items[index] == nil {
		f.items[index] = &fieldSet{}
		f.order = append(f.order, index)
	}
	return f.items[index]
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
		for _, index := range f.order {
			selected = append(selected, f.items[index].of(observed[index]))
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
		if object, ok := observed.(map[string]any); ok {
			for name, member := range applied {
				if current, found := object[name]; found {
					f.field(name).addApplied(member, current)
				}
			}
			return
		}
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
	key := MergeKey(applied, observed)
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

// sort puts the items of all lists in the order in which they were observed.
func (f *fieldSet) sort() {
	for _, field := range f.fields {
		field.sort()
	}
	slices.Sort(f.order)
	for _, item := range f.items {
		item.sort()
	}
}
