package wire

import (
	"reflect"
	"slices"
	"strings"
)

// Field is a member of the JSON object of a struct.
type Field struct {
	Name      string
	Index     []int // for [reflect.Value.FieldByIndex]
	Type      reflect.Type
	OmitEmpty bool // with omitempty or omitzero
	OmitZero  bool // with omitzero
}

// Fields returns the fields of a struct as encoding/json reads and writes them, in the order of
// their names. Of fields with one name the one that is embedded least deep counts, of those
// of one depth none.
func Fields(t reflect.Type) []Field {
	var all []Field
	decided, seen := map[string]bool{}, map[reflect.Type]bool{t: true}
	for level := []Field{{Type: t}}; len(level) > 0; {
		var found, embedded []Field
		for _, outer := range level {
			for i := range outer.Type.NumField() {
				f := fieldAt(outer, i)
				inner := f.Type
				if inner.Kind() == reflect.Pointer && inner.Name() == "" {
					inner = inner.Elem()
				}
				switch {
				case f.Name == "-":
				case f.Name != "":
					found = append(found, f)
				case !seen[inner]:
					seen[inner], f.Type = true, inner
					embedded = append(embedded, f)
				}
			}
		}
		for _, f := range found {
			isOne := len(slices.DeleteFunc(slices.Clone(found), func(other Field) bool { return other.Name != f.Name })) == 1
			if isOne && !decided[f.Name] {
				all = append(all, f)
			}
		}
		for _, f := range found {
			decided[f.Name] = true
		}
		level = embedded
	}
	slices.SortFunc(all, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// fieldAt returns a field of a struct. Its name is "-" where it is none, and "" where
// it is an embedded struct, whose fields count.
func fieldAt(outer Field, i int) Field {
	f := outer.Type.Field(i)
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	isEmbedded := f.Anonymous && name == "" && (f.Type.Kind() == reflect.Struct || f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct)
	switch {
	case f.Tag.Get("json") == "-", !f.IsExported() && !isEmbedded:
		name = "-"
	case name == "" && !isEmbedded:
		name = f.Name
	}
	field := Field{Name: name, Index: append(slices.Clone(outer.Index), i), Type: f.Type}
	for option := range strings.SplitSeq(options, ",") {
		field.OmitEmpty = field.OmitEmpty || option == "omitempty" || option == "omitzero"
		field.OmitZero = field.OmitZero || option == "omitzero"
	}
	return field
}
