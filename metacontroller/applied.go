package metacontroller

import (
	"cmp"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// fieldSet selects fields of one observed object. It names no values: those are
// taken from the object.
type fieldSet struct {
	whole  bool // the value with all that is in it
	fields map[string]*fieldSet
	items  []*itemSet // of a list, in the order in which they are written
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

// appliedFields returns which fields of an observed object Metacontroller
// applied last. Under dynamic-apply it keeps them in an annotation, under
// server-side apply the API server keeps them in managedFields. Users can write
// both: a forged text can make a child restate more or fewer of its own fields,
// but never a value that the object does not have.
//
// Where both tell something, all of it counts, because a field that is left out
// is removed. Where neither does, nothing is selected: Metacontroller removes
// only what one of the two says that it applied.
func appliedFields(raw []byte, object map[string]any) *fieldSet {
	selected := &fieldSet{}
	var metadata struct {
		Annotations   map[string]string           `json:"annotations"`
		ManagedFields []metav1.ManagedFieldsEntry `json:"managedFields"`
	}
	// What of it cannot be read tells nothing.
	_ = json.Unmarshal(lookup(raw, "metadata"), &metadata)
	var applied map[string]any
	last := []byte(metadata.Annotations[LastAppliedAnnotation])
	isAnnotated := json.Valid(last) && decode(last, &applied) == nil && applied != nil
	if isAnnotated {
		selected.addApplied(applied, object)
	}
	for _, entry := range metadata.ManagedFields {
		if entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		var owned fieldpath.Set
		if owned.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
			continue
		}
		// The name of Metacontroller's field manager is a flag of its own. Its
		// entry is told by what every child is applied with.
		if !isAnnotated || owned.Has(hashPath) || owned.Has(uidPath) {
			selected.addOwned(&owned, object)
		}
	}
	return selected
}

// What every child is applied with: its [HashAnnotation], and the label that
// Metacontroller adds.
var (
	hashPath = fieldpath.MakePathOrDie("metadata", "annotations", HashAnnotation)
	uidPath  = fieldpath.MakePathOrDie("metadata", "labels", controllerUIDLabel)
)

// addApplied selects what stands in a text of last-applied configuration.
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
// places. A list that has changed its length, or has a key twice, counts as a
// whole.
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
		i := slices.IndexFunc(observed, func(other any) bool {
			return scalar(other, key) == scalar(item, key)
		})
		if i >= 0 {
			f.item(i).addApplied(item, observed[i])
		}
	}
}

// mergeKeys are the names by which Metacontroller matches the items of a list,
// the first that all items have.
// https://github.com/metacontroller/metacontroller/blob/v4.17.2/pkg/dynamic/apply/apply.go
var mergeKeys = []string{"containerPort", "port", "mountPath", "name", "uid", "ip", "path"}

// mergeKey returns the name of the member that tells apart the items of each
// list, or nothing.
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

// addOwned selects what a set of managed fields names.
func (f *fieldSet) addOwned(owned *fieldpath.Set, observed any) {
	for path := range owned.Leaves().All() {
		f.addPath(path, observed)
	}
	// An item or a map that is owned with some of its members.
	for path := range owned.All() {
		f.at(path, observed)
	}
	// The API server takes another order for a change.
	f.sort()
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

// addPath selects the value at a path, with all that is in it.
func (f *fieldSet) addPath(path fieldpath.Path, observed any) {
	if selected := f.at(path, observed); selected != nil {
		selected.whole = selected.fields == nil && selected.items == nil
	}
}

// at returns the selection at a path, which it adds where there is none, or nil
// where the observed value has nothing there.
func (f *fieldSet) at(path fieldpath.Path, observed any) *fieldSet {
	for _, element := range path {
		if f.whole {
			return f
		}
		switch {
		case element.FieldName != nil:
			object, _ := observed.(map[string]any)
			member, found := object[*element.FieldName]
			if !found {
				return nil
			}
			f, observed = f.field(*element.FieldName), member
		default:
			list, _ := observed.([]any)
			i := itemAt(element, list)
			if i < 0 {
				return nil
			}
			f, observed = f.item(i), list[i]
		}
	}
	return f
}

// itemAt returns the index of the item that an element of a path names, or -1.
func itemAt(element fieldpath.PathElement, list []any) int {
	switch {
	case element.Index != nil && *element.Index >= 0 && *element.Index < len(list):
		return *element.Index
	case element.Value != nil:
		return slices.IndexFunc(list, func(item any) bool {
			return value.Equals(*element.Value, value.NewValueInterface(item))
		})
	case element.Key != nil:
		return slices.IndexFunc(list, func(item any) bool { return hasKey(item, *element.Key) })
	default:
		return -1
	}
}

// hasKey reports whether an item of a list has the values of a key.
func hasKey(item any, key value.FieldList) bool {
	object, ok := item.(map[string]any)
	if !ok {
		return false
	}
	for _, field := range key {
		member, found := object[field.Name]
		if !found || !value.Equals(field.Value, value.NewValueInterface(member)) {
			return false
		}
	}
	return true
}
