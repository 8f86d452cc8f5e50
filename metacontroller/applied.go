package metacontroller

import (
	"cmp"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fieldSet selects fields of one observed object. It holds no values: those are
// read from the object.
type fieldSet struct {
	whole  bool // the value with everything in it
	fields map[string]*fieldSet
	items  []*itemSet // of a list, in the order in which they are added
	places map[int]*itemSet
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
	if item, found := f.places[index]; found {
		return &item.fieldSet
	}
	if f.places == nil {
		f.places = map[int]*itemSet{}
	}
	item := &itemSet{index: index}
	f.items, f.places[index] = append(f.items, item), item
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

// appliedFields returns which fields of an observed object Metacontroller
// applied last. Under dynamic-apply it keeps them in an annotation, under
// server-side apply the API server keeps them in managedFields. Users can write
// both: a forged value can add or remove fields of the child that are restated,
// but never a value that the object does not have.
//
// Where both name fields, all of them count, because a field that is left out
// is removed. Where neither does, nothing is selected: Metacontroller removes
// only fields that one of the two lists.
//
// The annotation is the text of [LastAppliedAnnotation], the object is the
// decoded observed object. The caller accounts for the memory of both.
func appliedFields(observed Snapshot, annotation string, object map[string]any) *fieldSet {
	metadata := lookup(observed.raw, "metadata")
	selected := annotatedFields(annotation, object)
	isAnnotated := selected != nil
	if !isAnnotated {
		selected = &fieldSet{}
	}
	owned := ownership{run: observed.run, lists: map[*any]*listIndex{}}
	elements(lookup(metadata, "managedFields"), func(entry []byte) bool {
		operation, _ := text(lookup(entry, "operation"))
		subresource, _ := text(lookup(entry, "subresource"))
		fields := lookup(entry, "fieldsV1")
		if operation != string(metav1.ManagedFieldsOperationApply) || subresource != "" {
			return true
		}
		// The name of Metacontroller's field manager is configurable, so its
		// entry is recognized by the fields that every child is applied with.
		if !isAnnotated || lookup(fields, hashPath...) != nil || lookup(fields, uidPath...) != nil {
			owned.add(selected, fields, object)
		}
		return observed.run.failure() == nil
	})
	// The API server sorts the list differently after a change.
	if owned.added {
		selected.sort()
	}
	return selected
}

// annotatedFields returns which fields of an observed object are in a text of
// [LastAppliedAnnotation], or nil if it cannot be read.
func annotatedFields(annotation string, object map[string]any) *fieldSet {
	var applied map[string]any
	last := []byte(annotation)
	if !json.Valid(last) || decode(last, &applied) != nil || applied == nil {
		return nil
	}
	selected := &fieldSet{}
	selected.addApplied(applied, object)
	return selected
}

// The fields that every child is applied with: its [HashAnnotation], and the
// label that Metacontroller adds.
var (
	hashPath = []string{"f:metadata", "f:annotations", "f:" + HashAnnotation}
	uidPath  = []string{"f:metadata", "f:labels", "f:" + controllerUIDLabel}
)

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
	places := make(map[any]int, len(observed))
	for i, item := range observed {
		places[scalar(item, key)] = i
	}
	for _, item := range applied {
		if i, found := places[scalar(item, key)]; found {
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
