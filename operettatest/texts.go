package operettatest

import (
	"context"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/internal/corpus"
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
// be printable, and valid by the API server's own code.
func (k kind) hostileTexts(t *testing.T, c corpus.Case, _ metacontroller.Answer) {
	if k.CRD == nil {
		return
	}
	for what, text := range hostile {
		if !testenv.Often(c.Name+what, 4) {
			continue
		}
		var parent object
		answer, err := changed(t, c, func(request object) {
			parent = request["parent"].(object)
			for _, observed := range append(observedIn(request, "children"), append(observedIn(request, "related"), parent)...) {
				eachObject(observed["status"], func(o object) { o["reason"], o["message"] = text, text })
			}
		}).Call()
		require.NoError(t, err, what)
		status := statusOf(t, answer.Body)
		old, _ := parent["status"].(object) // which the hook may keep for now
		require.Less(t, len(encoded(t, status)), 256<<10+len(encoded(t, old)), what)
		eachObject(status, func(o object) {
			for name, member := range o {
				requirePrintable(t, what, name)
				requirePrintable(t, what+": "+name, member)
			}
		})
		stored := runtime.DeepCopyJSON(object{
			"apiVersion": parent["apiVersion"], "kind": parent["kind"], "metadata": object{"name": nameOf(parent)}, "status": status,
		})
		schema := k.schema(t)
		schema.Default(stored)
		for _, err := range schema.Validate(context.Background(), stored) {
			require.False(t, strings.HasPrefix(err.Field, "status"), "%s: %.500s", what, err)
		}
	}
}

// eachObject calls a function for each object in a value, those that are further in first.
func eachObject(value any, do func(object)) {
	switch value := value.(type) {
	case object:
		for _, inner := range value {
			eachObject(inner, do)
		}
		do(value)
	case []any:
		for _, item := range value {
			eachObject(item, do)
		}
	}
}

// requirePrintable wants a text, or the texts of a list, to be fit for a terminal.
func requirePrintable(t *testing.T, where string, value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			requirePrintable(t, where, item)
		}
	case string:
		require.Negative(t, strings.IndexFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }), "%s: %.200q", where, value)
	}
}
