package laws

import (
	"context"
	"strings"
	"testing"
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
var hostile = map[string]string{
	"a terminal's commands": "\x1b]0;x\x07\x1b[2J\u009b31m two\r\nlines \x00 \u202e \U000e0041",
	"a long text":           strings.Repeat("long ", 7_000),
	"a plug-in's reason":    "OutOfnvidia.com/gpu",
	"nothing":               "",
}

// hostileTexts writes hostile texts into the statuses of children and related
// objects, and into the messages of the parent's status. The answered status must
// be printable and valid.
func hostileTexts(t *testing.T, c corpus.Case, _ metacontroller.Answer) {
	if c.Hook == metacontroller.CustomizeHook || len(c.Controller.CRD) == 0 {
		return
	}
	for what, text := range hostile {
		if !testenv.Often(c.Name+what, 4) {
			continue
		}
		request := Parsed(t, c.Request)
		parent := request["parent"].(object)
		explain(parent["status"], text)
		for _, member := range []string{"children", "related"} {
			for _, observed := range ObservedIn(request, member) {
				explain(observed["status"], text)
			}
		}
		answer, err := c.Controller.Call(c.Hook, c.Now, Encoded(t, request))
		require.NoError(t, err, what)
		requireStorable(t, what, Schema(t, c.Controller), parent, answer.Body)
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

// explain replaces the reasons and messages of a status by a text.
func explain(status any, text string) {
	switch status := status.(type) {
	case object:
		for _, inner := range status {
			explain(inner, text)
		}
		status["reason"], status["message"] = text, text
	case []any:
		for _, item := range status {
			explain(item, text)
		}
	}
}
