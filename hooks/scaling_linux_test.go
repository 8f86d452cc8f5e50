package hooks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/internal/compact"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/processor"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// growing is how lists of a request become longer: with copies of what is in them,
// each with a name of its own.
type growing struct {
	paths [][]string // to lists, or to maps of objects by name
	n     int
}

// lists returns the lists in a request that can become long: the children and
// related objects of each kind, and the lists in the status, however deep.
func lists(request map[string]any) [][]string {
	var found [][]string
	for _, where := range []string{"children", "related"} {
		groups, _ := request[where].(map[string]any)
		for _, kind := range slices.Sorted(maps.Keys(groups)) {
			if objects, _ := groups[kind].(map[string]any); len(objects) > 0 {
				found = append(found, []string{where, kind})
			}
		}
	}
	var walk func(value any, path []string)
	walk = func(value any, path []string) {
		object, _ := value.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(object)) {
			below := append(slices.Clone(path), key)
			if list, isList := object[key].([]any); isList && len(list) > 0 {
				found = append(found, below)
			}
			walk(object[key], below)
		}
	}
	if parent, ok := request["parent"].(map[string]any); ok {
		walk(parent["status"], []string{"parent", "status"})
	}
	return found
}

// of returns the request with the lists as long as wanted.
func (g growing) of(t *testing.T, original []byte) []byte {
	var request map[string]any
	require.NoError(t, json.Unmarshal(original, &request))
	for _, path := range g.paths {
		holder := request
		for _, name := range path[:len(path)-1] {
			holder = holder[name].(map[string]any)
		}
		last := path[len(path)-1]
		switch list := holder[last].(type) {
		case map[string]any:
			names := slices.Sorted(maps.Keys(list))
			for i := len(list); i < g.n; i++ {
				key := names[i%len(names)]
				list[fmt.Sprintf("%s-%08x", key, i)] = renamed(list[key], i)
			}
		case []any:
			for i := len(list); i < g.n; i++ {
				list = append(list, renamed(list[i%len(list)], i))
			}
			holder[last] = list
		}
	}
	grown, err := json.Marshal(request)
	require.NoError(t, err)
	return grown
}

// renamed returns a copy of an item with a name and a UID of its own.
func renamed(item any, i int) any {
	if text, ok := item.(string); ok {
		return fmt.Sprintf("%s-%08x", text, i)
	}
	copied := runtime.DeepCopyJSONValue(item)
	object, _ := copied.(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	for _, holder := range []map[string]any{object, metadata} {
		for _, field := range []string{"name", "uid", "hash", "jobName", "component", "type"} {
			if old, ok := holder[field].(string); ok {
				holder[field] = fmt.Sprintf("%s-%08x", old, i)
			}
		}
	}
	return copied
}

// all stands for every list of a request: what compares the objects of one with
// those of another is seen only where both are long.
const all = "all lists"

// growths returns what is measured: of each hook and list the case that says most,
// and of each hook the case that takes longest with all its lists.
func growths(t *testing.T) (map[string]corpus.Case, map[string][][]string) {
	chosen, paths, most := map[string]corpus.Case{}, map[string][][]string{}, map[string]int{}
	for _, e := range cases(t) {
		var request map[string]any
		require.NoError(t, json.Unmarshal(e.Request, &request))
		hook := e.Controller.Name() + "/" + string(e.Hook) + " "
		found := lists(request)
		note := func(key string, lists [][]string, is int) {
			if is > most[key] {
				chosen[key], paths[key], most[key] = e, lists, is
			}
		}
		for _, path := range found {
			note(hook+strings.Join(path, " "), [][]string{path}, len(e.Request))
		}
		if len(found) > 1 {
			note(hook+all, found, int(processorTime(t, e, growing{found, 60}.of(t, e.Request))))
		}
	}
	return chosen, paths
}

// processorTime returns how long a processor works on a request.
func processorTime(t *testing.T, e corpus.Case, body []byte) time.Duration {
	took, err := processor.Time(func() { _, _ = e.Controller.CallContext(t.Context(), e.Hook, e.Now, body, metacontroller.Limits{}) })
	require.NoError(t, err)
	return took
}

// TestWorkGrowsAsTheRequest: four times as many objects or remembered items cost less
// than ten times as much. They would cost sixteen times as much where each is compared
// with each other one; what is more than four is the garbage collector's and the
// processor's caches'. A parent, its children and its status can be made by who
// may make nothing else, so that a hook that looks at each item for each other one
// could keep a processor busy for as long as a request may take.
func TestWorkGrowsAsTheRequest(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute of a processor: make cover runs it")
	}
	const n, most = 600, 10.0
	chosen, paths := growths(t)
	require.NotEmpty(t, chosen)
	for _, key := range slices.Sorted(maps.Keys(chosen)) {
		t.Run(key, func(t *testing.T) {
			e := chosen[key]
			var bodies [2][]byte
			short := n
			if len(paths[key]) > 1 {
				short = n / 2
			}
			for i, length := range []int{short, 4 * short} {
				bodies[i] = growing{paths[key], length}.of(t, e.Request)
			}
			ask := func(body []byte) func() {
				return func() { _, _ = e.Controller.CallContext(t.Context(), e.Hook, e.Now, body, metacontroller.Limits{}) }
			}
			operettatest.RequireGrowth(t, most, ask(bodies[0]), ask(bodies[1]))
		})
	}
}

// deepened returns a request in which each object of one kind, or the parent where there is no
// path, has a text of so many levels wherever somebody can write one.
func deepened(t *testing.T, original []byte, path []string, levels int) []byte {
	const place = "the deep text"
	var request map[string]any
	require.NoError(t, json.Unmarshal(original, &request))
	objects := map[string]any{"parent": request["parent"]}
	if len(path) > 0 {
		objects = request[path[0]].(map[string]any)[path[1]].(map[string]any)
	}
	fields := func() any { return []any{map[string]any{"manager": "a", "operation": "Update", "fieldsV1": place}} }
	into := func(holder map[string]any, field string, value any, names ...string) {
		for _, name := range names {
			if holder[name] == nil {
				holder[name] = map[string]any{}
			}
			inner, isObject := holder[name].(map[string]any)
			if !isObject {
				return
			}
			holder = inner
		}
		holder[field] = value
	}
	for _, value := range objects {
		object, isObject := value.(map[string]any)
		if !isObject {
			continue
		}
		into(object, "managedFields", fields(), "metadata")
		into(object, "managedFields", fields(), "spec", "template", "metadata")
		into(object, "x", place, "spec")
		into(object, "x", place, "spec", "template", "spec")
		into(object, "x", place, "status")
		into(object, "x", place)
	}
	body, err := json.Marshal(request)
	require.NoError(t, err)
	const level = `{"a":[{"name":"a","x":1},{"name":"b","y":[2,3,4,5]},{"name":"c"}],"n":`
	return []byte(strings.ReplaceAll(string(body), `"`+place+`"`, strings.Repeat(level, levels)+"{}"+strings.Repeat("}", levels)))
}

// TestWorkDoesNotGrowAsTheLevels: an object that has four times as many bytes costs less than
// ten times as much, also where they are four times as deep. It would cost sixteen times as
// much where each level goes through the text that is left, and a child can have 10,000.
func TestWorkDoesNotGrowAsTheLevels(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds of a processor: make cover runs it")
	}
	const levels, most = 700, 10.0
	chosen, paths := map[string]corpus.Case{}, map[string][]string{}
	for _, e := range cases(t) {
		var request map[string]any
		require.NoError(t, json.Unmarshal(e.Request, &request))
		places := [][]string{nil}
		for _, where := range []string{"children", "related"} {
			groups, _ := request[where].(map[string]any)
			for kind, objects := range groups {
				if len(objects.(map[string]any)) > 0 {
					places = append(places, []string{where, kind})
				}
			}
		}
		for _, path := range places {
			key := e.Controller.Name() + "/" + string(e.Hook) + " " + strings.Join(path, " ")
			if len(e.Request) > len(chosen[key].Request) {
				chosen[key], paths[key] = e, path
			}
		}
	}
	require.NotEmpty(t, chosen)
	for _, key := range slices.Sorted(maps.Keys(chosen)) {
		t.Run(key, func(t *testing.T) {
			e := chosen[key]
			ask := func(levels int) func() {
				body := deepened(t, e.Request, paths[key], levels)
				return func() {
					if _, err := io.Copy(io.Discard, compact.NewReader(bytes.NewReader(body), e.Controller)); err != nil {
						t.Error(err)
					}
					_, _ = e.Controller.CallContext(t.Context(), e.Hook, e.Now, body, metacontroller.Limits{})
				}
			}
			operettatest.RequireGrowth(t, most, ask(levels), ask(4*levels))
		})
	}
}
