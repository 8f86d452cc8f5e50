package hooks_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
)

// changed returns the request after a change to a copy of it.
func changed(t testing.TB, e exchange, change func(request map[string]any)) []byte {
	request := parsed(t, e.request)
	change(request)
	return encoded(t, request)
}

// trees are the requests of the cases in Go, by their text: the tests change
// copies of each hundreds of times, and to copy takes a fifth of the time that to
// parse does.
var trees sync.Map // of string to func() (map[string]any, error)

// remember has a request parsed once.
func remember(raw []byte) {
	trees.Store(string(raw), sync.OnceValues(func() (object map[string]any, err error) {
		return object, json.Unmarshal(raw, &object)
	}))
}

// parsed returns a request in Go, for the test to change.
func parsed(t testing.TB, raw []byte) map[string]any {
	if known, ok := trees.Load(string(raw)); ok {
		tree, err := known.(func() (map[string]any, error))()
		require.NoError(t, err)
		return runtime.DeepCopyJSON(tree)
	}
	var object map[string]any
	require.NoError(t, json.Unmarshal(raw, &object))
	return object
}

func encoded(t testing.TB, object map[string]any) []byte {
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	return raw
}
