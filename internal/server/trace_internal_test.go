package server

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoTracerCostsNothing: whoever traces nothing pays nothing.
func TestNoTracerCostsNothing(t *testing.T) {
	s := New(Options{})
	j, l := &job{server: s, request: t.Context()}, &line{}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		reading := j.begin(readStep)
		reading.end()
		next, end := j.follow()
		if next != nil {
			t.Error("the steps of a call are followed")
		}
		end()
		l.endSpan(http.StatusOK, 1)
		s.flush(context.Background())
	}))
	handler := http.Handler(http.NewServeMux())
	require.Same(t, handler, s.traced("podset", "sync")(handler), "nothing stands between")
}
