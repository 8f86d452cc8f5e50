package operettatest

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/internal/corpus"
)

// object is a JSON object.
type object = map[string]any

// parsed returns a request in Go, for the test to change. Integers stay integers: as
// floating-point numbers some would be others when they are sent.
func parsed(t testing.TB, raw []byte) object {
	var tree object
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(raw, &tree))
	return tree
}

// encoded returns an object in JSON.
func encoded(t testing.TB, o object) []byte {
	raw, err := json.Marshal(o)
	require.NoError(t, err)
	return raw
}

// changed returns a case after a change to a copy of its request.
func changed(t testing.TB, c corpus.Case, change func(request object)) corpus.Case {
	request := parsed(t, c.Request)
	change(request)
	c.Request = encoded(t, request)
	return c
}

// observedIn returns the objects of a request's map of maps, which is its member
// children or related, in a fixed order.
func observedIn(request object, member string) []object {
	var objects []object
	groups, _ := request[member].(object)
	for _, kind := range slices.Sorted(maps.Keys(groups)) {
		group, _ := groups[kind].(object)
		for _, key := range slices.Sorted(maps.Keys(group)) {
			objects = append(objects, group[key].(object))
		}
	}
	return objects
}

// childrenOf returns the children of a response.
func childrenOf(t testing.TB, body []byte) []object {
	var response struct {
		Children []object `json:"children"`
	}
	require.NoError(t, json.Unmarshal(body, &response))
	return response.Children
}

// refsOf returns the references of some objects.
func refsOf(objects []object) map[string]bool {
	refs := map[string]bool{}
	for _, o := range objects {
		refs[corpus.Ref(o)] = true
	}
	return refs
}

// byRef returns objects by their references.
func byRef(objects []object) map[string]object {
	all := map[string]object{}
	for _, o := range objects {
		all[corpus.Ref(o)] = o
	}
	return all
}

// namespaceOf returns the namespace of a request's parent, which is empty if it is
// cluster-scoped.
func namespaceOf(request object) string {
	namespace, _, _ := unstructured.NestedString(request, "parent", "metadata", "namespace")
	return namespace
}

// keyOf returns the key of an object in the children or related objects of a request of hook
// version v2, where an object without a namespace is in that of the parent.
func keyOf(request, o object) string {
	namespace, _, _ := unstructured.NestedString(o, "metadata", "namespace")
	return strings.TrimPrefix(cmp.Or(namespace, namespaceOf(request))+"/"+nameOf(o), "/")
}

// nameOf returns the name of an object, which may have none.
func nameOf(o object) string {
	name, _, _ := unstructured.NestedString(o, "metadata", "name")
	return name
}

// annotationsOf returns an object's annotations, which may be nil.
func annotationsOf(o object) object {
	metadata, _ := o["metadata"].(object)
	annotations, _ := metadata["annotations"].(object)
	return annotations
}

// replaced replaces the value at a place of a JSON text, counted from 1 in the
// order of the sorted names. Invalid JSON, and the place 0, are returned
// unchanged.
func replaced(request []byte, place uint16, value []byte) []byte {
	var root, replacement any
	if place == 0 || json.Unmarshal(request, &root) != nil || json.Unmarshal(value, &replacement) != nil {
		return request
	}
	left := int(place)
	result, err := json.Marshal(replaceValue(root, &left, replacement))
	if err != nil {
		return request
	}
	return result
}

func replaceValue(at any, left *int, replacement any) any {
	if *left--; *left == 0 {
		return replacement
	}
	switch at := at.(type) {
	case object:
		for _, key := range slices.Sorted(maps.Keys(at)) {
			at[key] = replaceValue(at[key], left, replacement)
		}
	case []any:
		for i := range at {
			at[i] = replaceValue(at[i], left, replacement)
		}
	}
	return at
}

// countValues returns how many places replaced knows in a value.
func countValues(at any) int {
	left := math.MaxInt
	replaceValue(at, &left, nil)
	return math.MaxInt - left
}
