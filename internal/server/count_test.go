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

// counting returns a function that computes an answer, and one that counts it.
func counting(t testing.TB) (call, count func()) {
	controller, body, now := podset.Controller(), honest(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := metrics.New(metrics.Options{Controllers: []metacontroller.Controller{controller}, Load: func() metrics.Load { return metrics.Load{} }, Log: discard()})
	answer, err := controller.Call(metacontroller.SyncHook, now, body)
	require.NoError(t, err)
	request := metrics.Request{
		Kind: "podset", Hook: metacontroller.SyncHook, Code: http.StatusOK, Duration: time.Millisecond,
		Received: int64(len(body)), Sent: int64(len(answer.Body)), Answer: &answer,
	}
	return func() { _, _ = controller.Call(metacontroller.SyncHook, now, body) }, func() { m.Count(request) }
}

// TestCountingCostsNoMemory to speak of beside the answer that is counted.
func TestCountingCostsNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory, in make cover")
	}
	call, count := counting(t)
	calling, extra := testing.AllocsPerRun(10, call), testing.AllocsPerRun(100, count)
	require.LessOrEqual(t, extra, calling/100)
}

func BenchmarkCount(b *testing.B) {
	call, count := counting(b)
	for name, run := range map[string]func(){"call": call, "count": count} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}
