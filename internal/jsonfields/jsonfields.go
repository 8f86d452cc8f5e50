// Package jsonfields tells which members of a JSON object encoding/json reads into a
// Go struct and writes of it. encoding/json, and the decoder of Kubernetes that has its
// rules, decide that and export it nowhere.
package jsonfields

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Field is a member of the JSON object of a struct.
type Field struct {
	Name      string
	Index     []int // for [reflect.Value.FieldByIndex]
	Type      reflect.Type
	OmitEmpty bool // with omitempty or omitzero
	OmitZero  bool // with omitzero
	Quoted    bool // with the option string and of a type that it has a meaning for
}

// Of returns the fields of a struct in the order of their names. As in encoding/json, of
// fields with one name the one that is embedded least deep counts, of those of one depth
// the one whose tag has the name, and of several such none.
func Of(t reflect.Type) []Field {
	var all []Field
	decided := map[string]bool{} // by an outer level
	seen := map[reflect.Type]bool{t: true}
	for level := []structure{{t: t}}; len(level) > 0; {
		candidates := map[string][]candidate{}
		var next []structure
		for _, s := range level {
			next = s.collect(candidates, next, seen)
		}
		for name, among := range candidates {
			if field, ok := dominant(among); ok && !decided[name] {
				all = append(all, field)
			}
			decided[name] = true
		}
		for _, s := range next {
			seen[s.t] = true
		}
		level = next
	}
	slices.SortFunc(all, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// structure is a struct, or one that is embedded.
type structure struct {
	t     reflect.Type
	index []int
	twice bool // it is embedded more than once at this depth: its own fields are ambiguous, and not what it embeds
}

type candidate struct {
	Field

	tagged, twice bool
}

// collect adds the fields of a struct to the candidates, and what it embeds to next,
// unless it has been seen at an outer level.
func (s structure) collect(candidates map[string][]candidate, next []structure, seen map[reflect.Type]bool) []structure {
	for i := range s.t.NumField() {
		f := s.t.Field(i)
		tag := f.Tag.Get("json")
		inner := pointedTo(f.Type)
		isStruct := inner.Kind() == reflect.Struct
		if tag == "-" || !f.IsExported() && (!f.Anonymous || !isStruct) {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !isName(name) {
			name = ""
		}
		index := append(slices.Clone(s.index), i)
		if f.Anonymous && isStruct && name == "" {
			at := slices.IndexFunc(next, func(other structure) bool { return other.t == inner })
			switch {
			case at >= 0:
				next[at].twice = true
			case !seen[inner]:
				next = append(next, structure{t: inner, index: index})
			}
			continue
		}
		field := Field{Name: name, Index: index, Type: f.Type}
		if name == "" {
			field.Name = f.Name
		}
		for option := range strings.SplitSeq(options, ",") {
			field.OmitEmpty = field.OmitEmpty || option == "omitempty" || option == "omitzero"
			field.OmitZero = field.OmitZero || option == "omitzero"
			field.Quoted = field.Quoted || option == "string" && isScalar(inner)
		}
		candidates[field.Name] = append(candidates[field.Name], candidate{field, name != "", s.twice})
	}
	return next
}

// dominant returns the one field of a name and depth that counts, if one does.
func dominant(among []candidate) (field Field, ok bool) {
	if slices.ContainsFunc(among, func(c candidate) bool { return c.tagged }) {
		among = slices.DeleteFunc(among, func(c candidate) bool { return !c.tagged })
	}
	return among[0].Field, len(among) == 1 && !among[0].twice
}

func pointedTo(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		return t.Elem()
	}
	return t
}

// isName reports whether encoding/json takes a text of a tag for a name.
func isName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c)
	})
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// isScalar reports whether a type is that of a text, a number or a truth value, and does
// not write itself.
func isScalar(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return (t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 || t.Kind() == reflect.String) && !pointer.Implements(marshaler) && !pointer.Implements(textMarshaler)
}
