package laws

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// hostile are texts that anyone who runs a Pod can make the kubelet write into
// its status. None of them is a valid reason of a condition.
var hostile = []struct {
	name, text string
	crowd      int // how many more Pods there are for each related one
}{
	{"a terminal's commands", "\x1b]0;x\x07\x1b[2J\u009b31m two\r\nlines \x00 \u202e \U000e0041", 0},
	{"a long text", strings.Repeat("long ", 20_000), 0}, // with -short, of a third
	{"a text of many Pods, more than any status lists", strings.Repeat("long ", 500), 101},
	{"a plug-in's reason", "OutOfnvidia.com/gpu", 0},
	{"nothing", "", 0},
}

// hostileTexts writes hostile texts into the status, the annotations and the
// labels of children and related objects, and into the messages of the parent's
// status. The answered status must be printable and valid.
func hostileTexts(t *testing.T, c corpus.Case, _ metacontroller.Answer) {
	if c.Hook == metacontroller.CustomizeHook || len(c.Controller.CRD) == 0 {
		return
	}
	oneOf := uint32(4)
	if testenv.Inner() {
		oneOf = 10
	}
	schema := Schema(t, c.Controller)
	for _, h := range hostile {
		for _, everywhere := range []bool{false, true} {
			what := fmt.Sprintf("%s, everywhere: %t", h.name, everywhere)
			text := h.text
			if testing.Short() {
				text = text[:min(len(text), 35_000)]
			}
			if !testenv.Sampled(c.Name+what, oneOf) || everywhere && len(text) > 1000 {
				continue
			}
			request := Parsed(t, c.Request)
			isCrowded := join(request, h.crowd)
			if h.crowd > 0 && (!isCrowded || !testenv.Thorough() && len(c.Request) > 8<<10) {
				continue
			}
			writeHostile(request, text, everywhere)
			answer, err := c.Controller.Call(c.Hook, c.Now, Encoded(t, request))
			if err != nil {
				require.True(t, everywhere, "%s: %s", what, err) // labels may be needed to recognize an object
				continue
			}
			requireStorable(t, what, schema, request["parent"].(map[string]any), answer.Body)
		}
	}
}

// requireStorable checks a status with the API server's own code, and that a
// terminal can show it.
func requireStorable(t *testing.T, what string, schema *crd.Schema, parent map[string]any, body []byte) {
	var response struct {
		Status map[string]any `json:"status"`
	}
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(body, &response), what)
	require.Less(t, len(Encoded(t, response.Status)), 256<<10, what)
	requirePrintable(t, what+": status", response.Status)
	metadata := parent["metadata"].(map[string]any)
	object := runtime.DeepCopyJSON(map[string]any{
		"apiVersion": parent["apiVersion"], "kind": parent["kind"], "metadata": map[string]any{"name": metadata["name"]}, "status": response.Status,
	})
	schema.Default(object)
	for _, err := range schema.Validate(context.Background(), object) {
		require.False(t, strings.HasPrefix(err.Field, "status"), "%s: %.500s", what, err)
	}
}

func requirePrintable(t *testing.T, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			requirePrintable(t, path, name)
			requirePrintable(t, path+"."+name, member)
		}
	case []any:
		for _, item := range value {
			requirePrintable(t, path+"[]", item)
		}
	case string:
		require.Negative(t, strings.IndexFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }), "%s: %.200q", path, value)
	}
}

// writeHostile writes a text all over a request. With everywhere set, it also
// replaces what identifies an object and its progress, so that a hook knows
// little.
func writeHostile(request map[string]any, text string, everywhere bool) {
	for _, field := range []string{"children", "related"} {
		for _, object := range ObservedIn(request, field) {
			if status, ok := object["status"].(map[string]any); ok {
				explain(status, text, everywhere)
			}
			metadata := object["metadata"].(map[string]any)
			for _, name := range []string{"labels", "annotations"} {
				texts, _ := metadata[name].(map[string]any)
				for key := range texts {
					if everywhere {
						texts[key] = text
					}
				}
			}
		}
	}
	if status, ok := request["parent"].(map[string]any)["status"].(map[string]any); ok {
		explain(status, text, false)
	}
}

// join adds copies of each related object, and reports whether there are any.
func join(request map[string]any, crowd int) bool {
	groups, _ := request["related"].(map[string]any)
	isCrowded := false
	for _, group := range groups {
		objects := group.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			isCrowded = true
			for n := range crowd {
				other := runtime.DeepCopyJSON(objects[key].(map[string]any))
				metadata := other["metadata"].(map[string]any)
				metadata["name"], metadata["uid"] = fmt.Sprintf("%s-%d", metadata["name"], n), fmt.Sprintf("%s-%d", metadata["uid"], n)
				objects[fmt.Sprintf("%s-%d", key, n)] = other
			}
		}
	}
	return isCrowded
}

// explain replaces the messages of a status by a text or, everywhere, every
// text except times.
func explain(status map[string]any, text string, everywhere bool) {
	for name, value := range status {
		switch value := value.(type) {
		case map[string]any:
			explain(value, text, everywhere)
		case []any:
			for _, item := range value {
				if object, ok := item.(map[string]any); ok {
					explain(object, text, everywhere)
				}
			}
		case string:
			if _, err := time.Parse(time.RFC3339, value); err != nil && everywhere {
				status[name] = text
			}
		}
	}
	status["reason"], status["message"] = text, text
}
