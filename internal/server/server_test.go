package server_test

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/server"
)

func TestLogLine(t *testing.T) {
	e := start(t, nil)
	e.post(t, "/greeting/sync", request("hi"))
	e.post(t, "/greeting/sync", request("panic"))
	e.post(t, "/salute/sync", request("hi"))
	lines := e.log.requests(t, 3)

	good := lines[0]
	require.Less(t, good["duration"], 5.0, "seconds")
	delete(good, "duration")
	delete(good, "time")
	require.Equal(t, map[string]any{
		"level": "INFO", "msg": "request", "kind": "greeting", "hook": "sync",
		"namespace": "default", "name": "hello", "uid": "u-1", "generation": 7.0,
		"status": 200.0, "childrenIn": 1.0, "childrenOut": 1.0,
		"created": 0.0, "updated": 1.0, "removed": 0.0, "withheld": 0.0, "statusChanged": true,
	}, good)

	require.Equal(t, "panic: the secret of hello", lines[1]["error"])
	require.Contains(t, lines[1]["stack"], "toy_test.go", "it says where")
	require.Equal(t, "/salute/sync", lines[2]["path"])
}

func TestPanicDoesNotEndTheServer(t *testing.T) {
	e := start(t, func(o *server.Options) { o.MaxInFlight = 1 })
	for range 5 {
		require.Equal(t, http.StatusInternalServerError, e.post(t, "/greeting/sync", request("panic")).code)
	}
	require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", request("hi")).code)
}

func TestHealth(t *testing.T) {
	e := start(t, nil)
	for _, path := range []string{"/healthz", "/readyz"} {
		got := e.probe(t, path)
		require.Equal(t, http.StatusOK, got.code)
		require.Equal(t, "ok\n", got.body)
	}
	require.Equal(t, http.StatusNotFound, e.probe(t, "/greeting/sync").code, "hooks are on the other port")
	got, err := e.do(http.MethodGet, "/healthz", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, got.code, "health is on the other port")
}

// TestAHookThatDoesNotEndEndsTheServer: it has a turn that nothing gives back, so that after a few
// such requests no kind is served. Kubernetes starts a container again whose health check fails.
func TestAHookThatDoesNotEndEndsTheServer(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) { o.AnswerTimeout = 50 * time.Millisecond })
	e.later("/greeting/sync", request("block"))
	<-e.reached
	require.Equal(t, http.StatusOK, e.probe(t, "/healthz").code)
	require.Eventually(t, func() bool { return e.probe(t, "/healthz").code == http.StatusServiceUnavailable }, time.Minute, 50*time.Millisecond)
	require.Equal(t, "the hook greeting/sync has run for more than 400ms and does not end\n", e.probe(t, "/healthz").body)
	require.Equal(t, http.StatusOK, e.probe(t, "/readyz").code, "the others are served until then")
	close(e.release)
	require.Eventually(t, func() bool { return e.probe(t, "/healthz").code == http.StatusOK }, time.Minute, 50*time.Millisecond)
}

func TestListenerThatFailsEndsTheServer(t *testing.T) {
	for name, closed := range map[string]int{"hooks": 0, "health": 1} {
		listeners := [...]net.Listener{listen(t), listen(t)}
		require.NoError(t, listeners[closed].Close())
		err := server.New(server.Options{Log: discard(), MaxInFlight: 1}).Run(t.Context(), listeners[0], listeners[1])
		require.ErrorContains(t, err, "serving on "+listeners[closed].Addr().String(), name)
	}
}

// TestThrottle: one hook runs, and the others wait, until it is too late for
// them.
func TestThrottle(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) { o.MaxInFlight = 1 })
	working := e.later("/greeting/sync", request("block"))
	e.untilReached(t, working)
	others := make(chan answered, 4)
	for range 3 {
		go func() { others <- <-e.later("/greeting/sync", request("hi")) }()
	}
	go func() {
		// The request of a parent with many children is larger than what net/http
		// reads of its own accord.
		others <- <-e.later("/greeting/sync", strings.Repeat(" ", 8<<20)+request("hi"))
	}()
	require.Equal(t, http.StatusOK, e.probe(t, "/readyz").code)
	require.Equal(t, http.StatusNotFound, e.post(t, "/salute/sync", "").code, "what costs nothing does not wait")
	require.Empty(t, others)
	for range cap(others) {
		got := <-others
		require.Equal(t, http.StatusTooManyRequests, got.code, got.body)
		requireOneLine(t, got)
		seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
		require.NoError(t, err)
		require.Positive(t, seconds)
	}
	later := e.later("/greeting/sync", request("hi"))
	close(e.release)
	require.Equal(t, http.StatusOK, (<-working).code)
	require.Equal(t, http.StatusOK, (<-later).code)
	for _, line := range e.log.requests(t, 7) {
		if line["status"] != float64(http.StatusNotFound) {
			require.Equal(t, "greeting", line["kind"], "also where it is refused")
		}
	}
}

// TestConcurrentRequests is for the race detector: each has to get its own
// answer.
func TestConcurrentRequests(t *testing.T) {
	e := start(t, nil)
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			for j := range 20 {
				text := fmt.Sprintf("hello %d from %d", j, i)
				got, err := e.do(http.MethodPost, "/greeting/sync", strings.NewReader(request(text)))
				if err != nil || !strings.Contains(got.body, `"`+text+`"`) {
					t.Errorf("%s: %d %s %v", text, got.code, got.body, err)
				}
			}
		})
	}
	group.Wait()
}
