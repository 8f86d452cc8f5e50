package laws

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/internal/corpus"
)

// trees caches the decoded requests of the cases: the laws change copies of
// each hundreds of times, and copying takes a fifth of the time of decoding.
var trees sync.Map // of string to func() (map[string]any, error)

// Remember has the requests of cases parsed once.
func Remember(cases []corpus.Case) {
	for _, c := range cases {
		raw := c.Request
		trees.LoadOrStore(string(raw), sync.OnceValues(func() (object map[string]any, err error) {
			return object, kjson.UnmarshalCaseSensitivePreserveInts(raw, &object)
		}))
	}
}

// Parsed returns a request in Go, for the test to change. Integers stay integers: as
// floating-point numbers some would be others when they are sent.
func Parsed(t testing.TB, raw []byte) map[string]any {
	if known, ok := trees.Load(string(raw)); ok {
		tree, err := known.(func() (map[string]any, error))()
		require.NoError(t, err)
		return runtime.DeepCopyJSON(tree)
	}
	var object map[string]any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(raw, &object))
	return object
}

// Encoded returns an object in JSON.
func Encoded(t testing.TB, object map[string]any) []byte {
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	return raw
}

// changed returns the request after a change to a copy of it.
func changed(t testing.TB, c corpus.Case, change func(request map[string]any)) []byte {
	request := Parsed(t, c.Request)
	change(request)
	return Encoded(t, request)
}

// ObservedIn returns the objects of a request's map of maps, which is its member
// children or related, in a fixed order.
func ObservedIn(request map[string]any, member string) []map[string]any {
	var objects []map[string]any
	groups, _ := request[member].(map[string]any)
	for _, kind := range slices.Sorted(maps.Keys(groups)) {
		group, _ := groups[kind].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(group)) {
			objects = append(objects, group[key].(map[string]any))
		}
	}
	return objects
}

// ChildrenOf returns the children of a response.
func ChildrenOf(t testing.TB, body []byte) []map[string]any {
	var response struct {
		Children []map[string]any `json:"children"`
	}
	require.NoError(t, json.Unmarshal(body, &response))
	return response.Children
}

// refsOf returns the references of some objects.
func refsOf(objects []map[string]any) map[string]bool {
	refs := map[string]bool{}
	for _, object := range objects {
		refs[corpus.Ref(object)] = true
	}
	return refs
}

// byRef returns objects by their references.
func byRef(objects []map[string]any) map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, object := range objects {
		all[corpus.Ref(object)] = object
	}
	return all
}

// namespaceOf returns the namespace of a request's parent, which is empty if it is
// cluster-scoped.
func namespaceOf(request map[string]any) string {
	namespace, _, _ := unstructured.NestedString(request, "parent", "metadata", "namespace")
	return namespace
}

// keyOf returns the key of an object in the children or related objects of a request of hook
// version v2, where an object without a namespace is in that of the parent.
func keyOf(request, object map[string]any) string {
	namespace, _, _ := unstructured.NestedString(object, "metadata", "namespace")
	return strings.TrimPrefix(cmp.Or(namespace, namespaceOf(request))+"/"+nameOf(object), "/")
}

// nameOf returns the name of an object, which may have none.
func nameOf(object map[string]any) string {
	name, _, _ := unstructured.NestedString(object, "metadata", "name")
	return name
}

// annotationsOf returns an object's annotations, which may be nil.
func annotationsOf(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations
}

// Replaced replaces the value at a place of a JSON text, counted from 1 in the
// order of the sorted names. Invalid JSON, and the place 0, are returned
// unchanged.
func Replaced(request []byte, place uint16, value []byte) []byte {
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
	case map[string]any:
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

// CountValues returns how many places [Replaced] knows in a value.
func CountValues(at any) int {
	count := 1
	switch at := at.(type) {
	case map[string]any:
		for _, member := range at {
			count += CountValues(member)
		}
	case []any:
		for _, item := range at {
			count += CountValues(item)
		}
	}
	return count
}

// replaceLeaves returns a value with other leaves.
func replaceLeaves(at any, replace func(leaf any) any) any {
	switch at := at.(type) {
	case map[string]any:
		for key, value := range at {
			at[key] = replaceLeaves(value, replace)
		}
		return at
	case []any:
		for i, value := range at {
			at[i] = replaceLeaves(value, replace)
		}
		return at
	default:
		return replace(at)
	}
}
