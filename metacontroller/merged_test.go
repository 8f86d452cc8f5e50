package metacontroller

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/processor"
)

// TestEntriesWithOneKey: Metacontroller writes the last of them as often as there are some.
func TestEntriesWithOneKey(t *testing.T) {
	controller := controllerOf(func(*greeting, Observed) (greetingResult, error) {
		return greetingResult{Status: map[string]any{}, Children: []Object{configMap("a")}}, nil
	})
	controller.Children[0].Update = InPlace
	const few, many = 100, 1000
	large := strings.Repeat("x", 10<<10)
	list := func(n int, entry, last string) string { return "[" + strings.Repeat(entry+",", n) + last + "]" }
	numbered := func(n int, prefix, last string) string {
		var entries strings.Builder
		for i := range n {
			fmt.Fprintf(&entries, `{"name":"%s%d"},`, prefix, i)
		}
		return "[" + entries.String() + `{"name":"` + prefix + `","value":"` + last + `"}]`
	}
	for name, c := range map[string]struct {
		field   string
		refused string // the path, if it is
	}{
		"many, and a large one last":       {`"spec":{"containers":[{"name":"a"},{"env":` + list(many, `{"name":"z"}`, `{"name":"z","value":"`+large+`"}`) + `}]}`, "spec.containers[1].env"},
		"few in a large child":             {`"data":{"a":"` + strings.Repeat("<", 1<<20) + `"},"spec":{"env":` + list(few, `{"name":"z"}`, `{"name":"z"}`) + `}`, ""},
		"few":                              {`"spec":{"env":` + list(few, `{"name":"z"}`, `{"name":"z","value":"`+large+`"}`) + `}`, ""},
		"many, and a small one last":       {`"spec":{"env":` + list(many, `{"name":"z","value":"`+strings.Repeat("x", 100)+`"}`, `{"name":"z"}`) + `}`, ""},
		"many without a key":               {`"spec":{"env":` + list(many, `{"key":"z"}`, `{"key":"z","value":"`+large+`"}`) + `}`, ""},
		"many of which one has no key":     {`"spec":{"env":` + list(many, `{"name":"z"}`, `{"key":"y"},{"name":"z","value":"`+large+`"}`) + `}`, ""},
		"many and a text":                  {`"spec":{"env":` + list(many, `{"name":"z"}`, `"z",{"name":"z","value":"`+large+`"}`) + `}`, ""},
		"numbers":                          {`"spec":{"ports":` + list(many, `{"port":1,"name":"a"}`, `{"port":1,"name":"b","x":{"y":"`+large+`"}}`) + `}`, "spec.ports"},
		"nulls and their text":             {`"a":` + list(many, `{"name":null}`, `{"name":"<nil>","value":"`+large+`"}`), "a"},
		"objects and their text":           {`"a":` + list(many, `{"name":{"a":1}}`, `{"name":"map[a:1]","value":"`+large+`"}`), "a"},
		"a list, not the last":             {`"a":` + list(many, `{"name":["a"]}`, `{"name":"[a]","value":"`+large+`"},{"name":["b"]}`), "a"},
		"texts that begin so":              {`"a":` + numbered(many, "[team] ", large), ""},
		"texts like objects":               {`"a":` + numbered(many, "map[a] ", large), ""},
		"texts like lists, and a list":     {`"a":[{"name":["a"]},` + numbered(many, "[team] ", large)[1:], "a"},
		"forms of a number":                {`"a":` + list(many, `{"port":100000000000000000000}`, `{"port":"1e+20","value":"`+large+`"}`), "a"},
		"zeros":                            {`"a":` + list(many, `{"port":-0}`, `{"port":0.0,"value":"`+large+`"}`), "a"},
		"numbers that differ":              {`"a":` + list(many, `{"port":10}`, `{"port":1.5,"value":"`+large+`"}`), ""},
		"lists in lists":                   {`"a":` + list(100, `{"ip":"z"}`, `{"ip":"z","b":`+list(100, `{"path":"z"}`, `{"path":"z","value":"`+large+`"}`)+`}`), "a"},
		"lists that Metacontroller leaves": {`"status":{"env":` + list(many, `{"name":"z"}`, `{"name":"z","value":"`+large+`"}`) + `}`, ""},
	} {
		child := fmt.Sprintf(`"ns/a":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},%s}`, c.field)
		for _, hook := range []HookName{SyncHook, FinalizeHook} {
			_, err := controller.Call(hook, noon, ask(hook == FinalizeHook, child, ""))
			if c.refused == "" {
				require.NoError(t, err, name)
				continue
			}
			require.True(t, IsRequestError(err), name)
			require.ErrorContains(t, err, "child ConfigMap/a: it has several entries with one key in "+c.refused+", as which Metacontroller would write ", name)
		}
	}
	// What is in the metadata does not hide what is in the spec.
	hidden := `"ns/a":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","annotations":{"a":"` + strings.Repeat("<", 1<<20) + `"}},"env":` + list(600, `{"name":"z"}`, `{"name":"z","value":"`+large+`"}`) + `}`
	_, err := controller.Call(SyncHook, noon, ask(false, hidden, ""))
	require.ErrorContains(t, err, "would write 6")

	// The last one is longer as Metacontroller writes it.
	child := `"ns/a":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"env":` + list(few, `{"name":"z"}`, `{"name":"z","value":"`+strings.Repeat("<", 10<<10)+`"}`) + `}`
	_, err = controller.Call(SyncHook, noon, ask(false, child, ""))
	require.ErrorContains(t, err, "would write 6")

	controller.Children[0].Update = OnDelete
	child = `"ns/a":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"env":` + list(many, `{"name":"z"}`, `{"name":"z","value":"`+large+`"}`) + `}`
	_, err = controller.Call(SyncHook, noon, ask(false, child, ""))
	require.NoError(t, err, "what is never updated")
}

// TestEntriesWithTheKeyOfADesiredOne: Metacontroller merges that into the last of them first.
func TestEntriesWithTheKeyOfADesiredOne(t *testing.T) {
	const few, many = 10, 1000
	large := strings.Repeat("x", 10<<10)
	for name, c := range map[string]struct {
		entry   string
		n       int
		refused bool
	}{
		"many":                 {`{"name":"z"}`, many, true},
		"few":                  {`{"name":"z"}`, few, false},
		"many of another name": {`{"name":"y"}`, many, false},
	} {
		controller := controllerOf(func(*greeting, Observed) (greetingResult, error) {
			desired := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"},
				"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "env": []any{map[string]any{"name": "z", "value": large}}}}},
			}}
			return greetingResult{Status: map[string]any{}, Children: []Object{desired}}, nil
		})
		controller.Children[0].Update = InPlace
		child := `"ns/a":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"spec":{"containers":[{"name":"main","env":[` +
			strings.TrimSuffix(strings.Repeat(c.entry+",", c.n), ",") + `]}]}}`
		_, err := controller.Call(SyncHook, noon, ask(false, child, ""))
		if c.refused {
			require.ErrorContains(t, err, "child ConfigMap/a: it has several entries with one key in spec.containers[0].env, as which Metacontroller would write 1", name)
			continue
		}
		require.NoError(t, err, name)
	}
}

// TestKeysThatAreObjects: Metacontroller compares what Go prints of them, which a text can be, too.
func TestKeysThatAreObjects(t *testing.T) {
	large := strings.Repeat("x", 10<<10)
	for _, c := range []struct {
		observed, desired string // keys
		refused           bool
	}{
		{`"z"`, `"z"`, true}, {`"[z]"`, `"[z]"`, true}, {`"[z]"`, `["z"]`, true}, {`["z"]`, `"[z]"`, true}, {`{"a":1}`, `"map[a:1]"`, true},
		{`"[y]"`, `"[z]"`, false}, {`["z"]`, `"z"`, false}, {`"z"`, `{"a":1}`, false},
	} {
		list := func(key, value string, n int) string {
			entry := `{"name":` + key + `,"value":"` + value + `"}`
			return `{"spec":{"env":[` + strings.Repeat(entry+",", n-1) + entry + `]}}`
		}
		err := checkMerged(Snapshot{raw: []byte(list(c.observed, "", 1000))}, []byte(list(c.desired, large, 1)))
		require.Equal(t, c.refused, err != nil, "%v: %v", c, err)
	}
}

// TestLevelsOfAnObservedChild: thousands of them take no time that grows with the product of
// levels and bytes. The managed fields of a template are as deep as somebody writes them.
func TestLevelsOfAnObservedChild(t *testing.T) {
	const levels = 9000
	deep := func(inner string) []byte {
		return []byte(`{"spec":{"template":{"metadata":{"managedFields":[{"fieldsV1":` + strings.Repeat(`{"f:a":`, levels) + inner + strings.Repeat("}", levels) + `}]}}}}`)
	}
	small := deep(`[` + strings.Repeat(`{},`, 400_000) + `{"name":"a"},{"name":"a"}]`)
	keyed := deep(`[` + strings.Repeat(`{"name":"a"},{"name":"b"},`, 20_000) + `{"name":"c"}]`)
	nested := []byte(strings.Repeat(`{"a":[{"name":"a"},{"name":"a"},`, levels/2) + `{}` + strings.Repeat(`]}`, levels/2))
	for name, c := range map[string]struct{ observed, desired []byte }{
		"small entries":                  {small, []byte(`{"spec":{}}`)},
		"entries that are desired":       {keyed, keyed},
		"lists in lists that are wanted": {nested, nested},
	} {
		took, err := processor.Time(func() { require.NoError(t, checkMerged(Snapshot{raw: c.observed}, c.desired)) })
		require.NoError(t, err)
		require.Less(t, took, 5*time.Second, name) // some milliseconds, and half a minute where it goes by the product
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = checkMerged(Snapshot{raw: c.observed}, c.desired)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), name) // gigabytes where each entry has its path
	}
}

// BenchmarkCheckMerged checks a Deployment of usual size.
func BenchmarkCheckMerged(b *testing.B) {
	var entries strings.Builder
	for i := range 20 {
		fmt.Fprintf(&entries, `{"name":"A_%d","value":"some text"},{"name":"B_%d","valueFrom":{"secretKeyRef":{"name":"a","key":"b"}}},`, i, i)
	}
	raw := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","managedFields":[{"fieldsV1":` + strings.Repeat(`{"f:spec":`, 200) + `{}` + strings.Repeat("}", 200) + `}]},
		"spec":{"containers":[{"name":"main","env":[` + strings.TrimSuffix(entries.String(), ",") + `]}]}}`)
	observed := Snapshot{raw: raw}
	b.ReportAllocs()
	for b.Loop() {
		if err := checkMerged(observed, raw); err != nil {
			b.Fatal(err)
		}
	}
}
