package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/server"
)

// TestALittleRequestThatAsksForMuchHasNoTinyTurn: what it costs is known only
// while it is computed. It waits for a turn as others do, and however many of them
// wait, the tiny ones keep theirs.
func TestALittleRequestThatAsksForMuchHasNoTinyTurn(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) {
		o.MemoryBudget, o.MaxInFlight, o.AnswerTimeout = server.LeastMemoryBudget, 4, 3*time.Second
	})
	require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", request("much")).code)
	long := strings.Replace(request("block"), `"spec": {`, `"spec": {"x": "`+strings.Repeat("x", 100_000)+`", `, 1)
	for range 10 { // for each turn that is not tiny, and more
		e.later("/greeting/sync", long)
	}
	<-e.reached
	time.Sleep(300 * time.Millisecond) // the others have come
	padded := request("much") + strings.Repeat(" ", 60_000)
	var answers []<-chan answered
	for range 60 { // three times the tiny memory
		answers = append(answers, e.later("/greeting/sync", padded))
	}
	for range 20 {
		require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", request("hi")).code)
	}
	for _, answer := range answers {
		require.Equal(t, http.StatusTooManyRequests, (<-answer).code, "no turn of others was free")
	}
	close(e.release)
	require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", padded).code)
}
