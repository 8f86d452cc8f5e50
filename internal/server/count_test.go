package server_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/internal/metrics"
	"github.com/operetta-dev/operetta/metacontroller"
)

// counting returns a function that counts an answer.
func counting(t testing.TB) func() {
	controller, body := podset.Controller(), honest()
	none := func() int64 { return 0 }
	m := metrics.New(metrics.Options{Controllers: []metacontroller.Controller{controller}, Load: metrics.Load{Requests: none, Connections: none}, Log: discard()})
	answer, err := controller.Call(metacontroller.SyncHook, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), body)
	require.NoError(t, err)
	route := m.Route("podset", metacontroller.SyncHook)
	return func() {
		route.Count(metrics.Request{
			Code: http.StatusOK, Duration: time.Millisecond, Received: int64(len(body)), Sent: int64(len(answer.Body)), Answer: &answer,
		})
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, counting(t)))
}

func BenchmarkCount(b *testing.B) {
	count := counting(b)
	b.ReportAllocs()
	for b.Loop() {
		count()
	}
}
