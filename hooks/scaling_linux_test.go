package hooks_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/processor"
	"github.com/operetta-dev/operetta/metacontroller"
)

// growing is how a list of a request becomes longer: with copies of what is in it,
// each with a name of its own.
type growing struct {
	path []string // to a list, or to a map of objects by name
	n    int
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

// of returns the request with the list as long as wanted.
func (g growing) of(t *testing.T, original []byte) []byte {
	var request map[string]any
	require.NoError(t, json.Unmarshal(original, &request))
	holder := request
	for _, name := range g.path[:len(g.path)-1] {
		holder = holder[name].(map[string]any)
	}
	last := g.path[len(g.path)-1]
	switch list := holder[last].(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(list))
		for i := len(list); i < g.n; i++ {
			key := names[i%len(names)]
			list[fmt.Sprintf("%s-%08x", key, i)] = renamed(t, list[key], i)
		}
	case []any:
		for i := len(list); i < g.n; i++ {
			list = append(list, renamed(t, list[i%len(list)], i))
		}
		holder[last] = list
	}
	grown, err := json.Marshal(request)
	require.NoError(t, err)
	return grown
}

// renamed returns a copy of an item with a name and a UID of its own.
func renamed(t *testing.T, item any, i int) any {
	if text, ok := item.(string); ok {
		return fmt.Sprintf("%s-%08x", text, i)
	}
	text, err := json.Marshal(item)
	require.NoError(t, err)
	var copied any
	require.NoError(t, json.Unmarshal(text, &copied))
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

// steep are the lists of which a hook is known to do more work than there is in
// them, by hook and path. None may be added.
var steep = map[string]bool{}

// TestWorkGrowsAsTheRequest: four times as many objects or remembered items cost less
// than ten times as much. They would cost sixteen times as much where each is compared
// with each other one; what is more than four is the garbage collector's and the
// processor's caches'. A parent, its children and its status can be made by who
// may make nothing else, so that a hook that looks at each item for each other one
// could keep a processor busy for as long as a request may take.
func TestWorkGrowsAsTheRequest(t *testing.T) {
	if !thorough() {
		t.Skip("it takes a minute of a processor: make cover runs it")
	}
	const n, tries, most = 1000, 8, 10.0
	const least = 5 * time.Millisecond // what takes less is too short to be measured, and for an attack
	longest := map[string]exchange{}   // of each hook and list the case that says most
	for _, e := range cases(t) {
		var request map[string]any
		require.NoError(t, json.Unmarshal(e.request, &request))
		for _, path := range lists(request) {
			key := e.controller.Name() + "/" + string(e.hook) + " " + strings.Join(path, " ")
			if len(e.request) > len(longest[key].request) {
				longest[key] = e
			}
		}
	}
	require.Greater(t, len(longest), 20)
	for _, key := range slices.Sorted(maps.Keys(longest)) {
		t.Run(key, func(t *testing.T) {
			e := longest[key]
			_, joined, _ := strings.Cut(key, " ")
			path := strings.Split(joined, " ")
			var bodies [2][]byte
			for i, length := range []int{n, 4 * n} {
				bodies[i] = growing{path, length}.of(t, e.request)
			}
			var best [2]time.Duration
			ratio := most + 1
			for try := 0; try < tries && ratio > most; try++ { // a busy machine can only make it seem more
				for i, body := range bodies {
					took, err := processor.Time(func() { _, _ = e.controller.CallContext(t.Context(), e.hook, e.now, body, metacontroller.Limits{}) })
					require.NoError(t, err)
					if best[i] == 0 || took < best[i] {
						best[i] = took
					}
				}
				ratio = float64(best[1]) / float64(max(best[0], least))
			}
			t.Logf("%.1f times as much: %s and %s", ratio, best[0], best[1])
			if steep[key] {
				require.Greater(t, ratio, most, "it is no longer steep: take it from the list")
				return
			}
			require.LessOrEqual(t, ratio, most)
		})
	}
}
