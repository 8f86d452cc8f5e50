package dataservice_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/dataservice"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// converged returns the last sync request of the sample, with all its children
// and Pods observed and ready, and when it was.
func converged(t testing.TB) (request []byte, now time.Time) {
	t.Helper()
	converge.once.Do(func() {
		s := tell(t, operettatest.Options{Around: func(direct operettatest.Call) operettatest.Call {
			return func(at time.Time, path string, body []byte) (int, []byte, error) {
				if strings.HasSuffix(path, "/sync") {
					converge.request, converge.now = body, at
				}
				return direct(at, path, body)
			}
		}})
		s.whole = true
		s.edit()
		converge.isDone = true
	})
	require.True(t, converge.isDone, "the sample does not converge, as another test says")
	return converge.request, converge.now
}

// converge is what converged does once for all tests, which do not change it.
var converge struct {
	once    sync.Once
	isDone  bool
	request []byte
	now     time.Time
}

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
