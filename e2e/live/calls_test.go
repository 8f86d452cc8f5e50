package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCalls counts the calls of the hooks in the life of one ModelBox, by what caused them.
func TestCalls(t *testing.T) {
	benchFile(t)
	counts := map[string][6]int{}
	for i, policy := range []string{always, never} {
		t.Run(policy, func(t *testing.T) {
			for phase, calls := range callsOfALife(t, policy) {
				for cause, n := range calls {
					row := counts[cause]
					row[3*i+phase] += n
					counts[cause] = row
				}
			}
		})
	}
	require.False(t, t.Failed())
	rows := []string{"what had changed since the call before\tAlways: created\tupdated\tdeleted\tNever: created\tupdated\tdeleted"}
	for _, cause := range slices.Sorted(maps.Keys(counts)) {
		row := cause
		for _, n := range counts[cause] {
			row += fmt.Sprint("\t", n)
		}
		rows = append(rows, row)
	}
	printed(t, table("# make bench-calls: calls of the hooks for one ModelBox of one Pod, by watchPods", rows))
}

// callsOfALife creates a ModelBox, updates and deletes it, and returns the calls in each of the three.
func callsOfALife(t *testing.T, policy string) (phases [3]map[string]int) {
	serveWith(t, policy)
	server, recorded := recordHooks(t)
	w := newWorld(t, start(t, modes[0], server))
	w.settle()
	recorded()
	var last map[string]any
	for phase, do := range []func(){
		func() { require.NoError(w, w.createBox(w.Context(), "one", nil)); w.ready("modelbox/one") },
		func() {
			require.NoError(w, objects.Patch(w.Context(), modelBoxes, w.ns, "one", `{"spec":{"image":"nginx:1.28"}}`))
			w.within("it is updated", time.Second/4, func() int { return 1 - w.countReady(modelBoxes) })
		},
		func() { w.deleteAll(modelBoxes, 1) },
	} {
		do()
		w.settle()
		phases[phase] = map[string]int{}
		for _, c := range recorded() {
			switch c.path {
			case "/modelbox/customize":
				phases[phase]["(calls of customize)"]++
			case "/modelbox/sync":
				var now map[string]any
				require.NoError(t, json.Unmarshal(c.body, &now))
				phases[phase][cause(last, now)]++
				phases[phase]["(calls of sync)"]++
				last = now
			}
		}
	}
	return phases
}

// cause names what differs between two calls for the same parent. Several events that came while one
// was answered have one call.
func cause(before, now map[string]any) string {
	var causes []string
	switch {
	case before == nil:
		return "ModelBox created"
	case at(before, "parent", "metadata", "generation") != at(now, "parent", "metadata", "generation"):
		causes = append(causes, "ModelBox edited")
	}
	if !reflect.DeepEqual(at(before, "parent", "status"), at(now, "parent", "status")) {
		causes = append(causes, "own status")
	}
	was, is := versionsIn(before), versionsIn(now)
	kinds := map[string]bool{}
	for key := range is {
		if was[key] != is[key] {
			kinds[strings.SplitN(key, ".", 2)[0]] = true
		}
	}
	for key := range was {
		if is[key] == nil {
			kinds[strings.SplitN(key, ".", 2)[0]] = true
		}
	}
	causes = append(causes, slices.Sorted(maps.Keys(kinds))...)
	if len(causes) == 0 {
		return "nothing: a timer, or an event seen before"
	}
	return strings.Join(causes, ", ")
}

// versionsIn returns the resourceVersions of the children and related objects of a call.
func versionsIn(call map[string]any) map[string]any {
	versions := map[string]any{}
	for _, member := range []string{"children", "related"} {
		groups, _ := call[member].(map[string]any)
		for kind, group := range groups {
			list, _ := group.(map[string]any)
			for name, object := range list {
				name = name[strings.LastIndex(name, "/")+1:] // that of a related one may begin with its namespace
				versions[kind+" "+name] = at(object, "metadata", "resourceVersion")
			}
		}
	}
	return versions
}
