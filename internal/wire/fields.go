package wire

import (
	"cmp"
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
// their names. Of fields with one name the one that is embedded least deep counts.
func Fields(t reflect.Type) []Field {
	var all []Field
	for i := range t.NumField() {
		switch f := fieldAt(t.Field(i), i); {
		case f.Name == "-":
		case f.Name != "":
			all = append(all, f)
		default:
			if f.Type.Kind() == reflect.Pointer {
				f.Type = f.Type.Elem()
			}
			for _, inner := range Fields(f.Type) {
				inner.Index = append([]int{i}, inner.Index...)
				all = append(all, inner)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Field) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(len(a.Index), len(b.Index)))
	})
	return slices.CompactFunc(all, func(a, b Field) bool { return a.Name == b.Name })
}

// fieldAt returns a field of a struct. Its name is "-" where it is none, and "" where
// it is an embedded struct, whose fields count.
func fieldAt(f reflect.StructField, i int) Field {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	isEmbedded := f.Anonymous && name == "" && (f.Type.Kind() == reflect.Struct || f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct)
	switch {
	case f.Tag.Get("json") == "-", !f.IsExported() && !isEmbedded:
		name = "-"
	case name == "" && !isEmbedded:
		name = f.Name
	}
	field := Field{Name: name, Index: []int{i}, Type: f.Type}
	for option := range strings.SplitSeq(options, ",") {
		field.OmitEmpty = field.OmitEmpty || option == "omitempty" || option == "omitzero"
		field.OmitZero = field.OmitZero || option == "omitzero"
	}
	return field
}
