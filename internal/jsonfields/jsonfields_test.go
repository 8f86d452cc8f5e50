package jsonfields_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/jsonfields"
)

type (
	Plain  struct{ X, Y int }
	Tagged struct {
		Z int `json:"X"`
	}
	Again     struct{ Plain }
	hidden    struct{ P int }
	ambiguous struct {
		Plain
		Other
	}
	Other   struct{ X, W int }
	tagWins struct {
		Plain
		Tagged2
	}
	Tagged2   struct{ Tagged }
	sameDepth struct {
		Plain
		Tagged
	}
	outerHides struct {
		Again
		Y int
	}
	ambiguousHides struct {
		ambiguous
		Deeper
	}
	Deeper  struct{ Deepest }
	Deepest struct{ Again }
	twice   struct {
		Again
		Second
	}
	Second      struct{ Plain }
	twiceDeeper struct {
		Deepest
		Third
	}
	Third   struct{ Again }
	Left    struct{ *Right }
	Right   struct{ *Left }
	pointer struct{ *Plain }
	// Not read, for encoding/json cannot make a hidden struct, but written.
	hiddenPointer struct{ *hidden }
	hiddenStruct  struct{ hidden }
	number        int
	Number        int
	noStruct      struct {
		number
		Number
	}
	namedEmbedded struct {
		Plain `json:"plain"`
	}
	names struct {
		A, b       int
		Left       int   `json:"-"`
		Dash       int   `json:"-,"`
		Odd        int   `json:"a\"b"`
		Spaced     int   `json:"a b"`
		Unnamed    int   `json:",omitempty"`
		Quoted     int   `json:"quoted,string"`
		QuotedList []int `json:"quotedList,string"`
	}
)

// TestOfIsWhatEncodingJSONWrites of values in which nothing is empty.
func TestOfIsWhatEncodingJSONWrites(t *testing.T) {
	for _, value := range []any{
		Plain{}, Tagged{}, Again{}, ambiguous{}, tagWins{}, sameDepth{}, outerHides{}, ambiguousHides{}, twice{}, twiceDeeper{}, Left{&Right{}}, pointer{&Plain{}},
		hiddenPointer{&hidden{}}, hiddenStruct{}, noStruct{}, namedEmbedded{}, names{Unnamed: 1}, corev1.Container{}, corev1.Volume{},
	} {
		text, err := json.Marshal(value)
		require.NoError(t, err)
		var object map[string]any
		require.NoError(t, json.Unmarshal(text, &object))
		var written []string
		v := reflect.ValueOf(value)
		for _, field := range jsonfields.Of(v.Type()) {
			member, err := v.FieldByIndexErr(field.Index)
			require.NoError(t, err)
			require.Equal(t, member.Type(), field.Type)
			if _, ok := object[field.Name]; ok || !field.OmitEmpty {
				written = append(written, field.Name)
			}
		}
		require.Equal(t, slices.Sorted(maps.Keys(object)), written, "%T: %s", value, text)
	}
}

// TestOfIsWhatEncodingJSONReads into types in which each value tells where it went.
func TestOfIsWhatEncodingJSONReads(t *testing.T) {
	for _, into := range []any{&Plain{}, &ambiguous{}, &tagWins{}, &sameDepth{}, &outerHides{}, &ambiguousHides{}, &twice{}, &twiceDeeper{}, &pointer{}, &hiddenStruct{}, &names{}} {
		v := reflect.ValueOf(into).Elem()
		fields := jsonfields.Of(v.Type())
		for _, name := range []string{"P", "W", "X", "Y", "Z", "A", "b", "-", "Odd", "a b", "Unnamed"} {
			v.SetZero()
			require.NoError(t, json.Unmarshal([]byte(`{"`+name+`":7}`), into))
			at := slices.IndexFunc(fields, func(f jsonfields.Field) bool { return f.Name == name })
			if at < 0 {
				require.True(t, v.IsZero(), "%T reads %s", into, name)
				continue
			}
			require.EqualValues(t, 7, v.FieldByIndex(fields[at].Index).Int(), "%T: %s", into, name)
		}
	}
}

func TestOptions(t *testing.T) {
	options := map[string][2]bool{}
	for _, f := range jsonfields.Of(reflect.TypeFor[struct {
		A int     `json:"a,omitempty"`
		B int     `json:"b,omitzero,string"`
		C *string `json:"c,string"`
		D []int   `json:"d,string"`
		E int     `json:"e,omitnothing"`
	}]()) {
		options[f.Name] = [2]bool{f.OmitEmpty, f.Quoted}
	}
	require.Equal(t, map[string][2]bool{"a": {true, false}, "b": {true, true}, "c": {false, true}, "d": {false, false}, "e": {false, false}}, options)
}
