package corpus_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

func TestComplete(t *testing.T) {
	controller := metacontroller.Controller{
		Parent:   metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Greeting", Plural: "greetings"},
		Children: []metacontroller.Child{{Resource: metacontroller.ConfigMap}, {Resource: metacontroller.Pod}},
		Related:  []metacontroller.Related{{Resource: metacontroller.Node}},
	}
	parent := `{"apiVersion":"example.com/v1","kind":"Greeting"}`
	for name, test := range map[string]struct {
		hook       metacontroller.HookName
		body, want string
	}{
		"a bare parent":  {metacontroller.SyncHook, parent, `{"parent":` + parent + `,"children":{"ConfigMap.v1":{},"Pod.v1":{}},"related":{"Node.v1":{}},"finalizing":false}`},
		"a part of it":   {metacontroller.FinalizeHook, `{"parent":` + parent + `,"children":{"Pod.v1":{"a":{}},"X":{}},"related":null}`, `{"parent":` + parent + `,"children":{"ConfigMap.v1":{},"Pod.v1":{"a":{}},"X":{}},"related":{"Node.v1":{}},"finalizing":true}`},
		"for customize":  {metacontroller.CustomizeHook, `{"parent":` + parent + `,"children":{}}`, `{"parent":` + parent + `}`},
		"a null of kind": {metacontroller.SyncHook, `{"parent":1,"children":{"Pod.v1":null}}`, `{"parent":1,"children":{"ConfigMap.v1":{},"Pod.v1":{}},"related":{"Node.v1":{}},"finalizing":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := corpus.Complete(controller, test.hook, []byte(test.body))
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(got))
		})
	}
	for _, body := range []string{`[]`, `{"parent":1,"children":[]}`, `{"parent":1,"related":[]}`} {
		_, err := corpus.Complete(controller, metacontroller.SyncHook, []byte(body))
		require.Error(t, err, body)
	}
}
