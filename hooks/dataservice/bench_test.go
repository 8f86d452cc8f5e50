package dataservice_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/dataservice"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

// converged returns the last sync request of the sample, with all its children
// and Pods observed and ready, and when it was.
func converged(testing.TB) (request []byte, now time.Time) { return convergeOnce() }

// convergeOnce does it once for all tests, which do not change it.
var convergeOnce = sync.OnceValues(func() (request []byte, now time.Time) {
	t := &testing.T{}
	world := simulate.New(simulate.Options{
		Controllers: []metacontroller.Controller{dataservice.Controller()},
		Call: func(at time.Time, path string, body []byte) (int, []byte, error) {
			if strings.HasSuffix(path, "/sync") {
				request, now = body, at
			}
			return simulate.Direct(dataservice.Controller())(at, path, body)
		},
	})
	s := &story{T: t, world: world, whole: true}
	object, err := json.Marshal(s.sample())
	require.NoError(t, err)
	require.NoError(t, world.Apply(object))
	require.NoError(t, world.Play())
	return request, now
})

// BenchmarkWholeProduct answers a sync of the converged sample.
func BenchmarkWholeProduct(b *testing.B) {
	request, now := converged(b)
	controller := dataservice.Controller()
	b.SetBytes(int64(len(request)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := controller.Call(metacontroller.SyncHook, now, request); err != nil {
			b.Fatal(err)
		}
	}
}

// TestChildrenAreSmall leaves room for what users add: Metacontroller can create
// no child of more than about 250 KiB.
func TestChildrenAreSmall(t *testing.T) {
	request, now := converged(t)
	answer, err := dataservice.Controller().Call(metacontroller.SyncHook, now, request)
	require.NoError(t, err)
	var response struct {
		Children []json.RawMessage `json:"children"`
	}
	require.NoError(t, json.Unmarshal(answer.Body, &response))
	require.Len(t, response.Children, 35)
	for _, child := range response.Children {
		require.Less(t, len(child), 8<<10)
	}
}
