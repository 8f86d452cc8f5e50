package metacontroller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
	for name, c := range map[string]struct {
		field   string
		refused string // the path, if it is
	}{
		"many, and a large one last":       {`"spec":{"containers":[{"name":"a"},{"env":` + list(many, `{"name":"z"}`, `{"name":"z","value":"`+large+`"}`) + `}]}`, "spec.containers[1].env"},
		"few":                              {`"spec":{"env":` + list(few, `{"name":"z"}`, `{"name":"z","value":"`+large+`"}`) + `}`, ""},
		"many, and a small one last":       {`"spec":{"env":` + list(many, `{"name":"z","value":"`+strings.Repeat("x", 100)+`"}`, `{"name":"z"}`) + `}`, ""},
		"many without a key":               {`"spec":{"env":` + list(many, `{"key":"z"}`, `{"key":"z","value":"`+large+`"}`) + `}`, ""},
		"many of which one has no key":     {`"spec":{"env":` + list(many, `{"name":"z"}`, `{"key":"y"},{"name":"z","value":"`+large+`"}`) + `}`, ""},
		"many and a text":                  {`"spec":{"env":` + list(many, `{"name":"z"}`, `"z",{"name":"z","value":"`+large+`"}`) + `}`, ""},
		"numbers":                          {`"spec":{"ports":` + list(many, `{"port":1,"name":"a"}`, `{"port":1,"name":"b","x":{"y":"`+large+`"}}`) + `}`, "spec.ports"},
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
	controller.Children[0].Update = OnDelete
	child := `"ns/a":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"env":` + list(many, `{"name":"z"}`, `{"name":"z","value":"`+large+`"}`) + `}`
	_, err := controller.Call(SyncHook, noon, ask(false, child, ""))
	require.NoError(t, err, "what is never updated")
}
