package server_test

import (
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/server"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestDrain follows a drain step by step, with a request in flight that does
// not end before the test lets it.
func TestDrain(t *testing.T) {
	t.Parallel()
	const delay = 3 * time.Second
	e := start(t, func(o *server.Options) { o.DrainDelay = delay })
	inFlight := e.later("/greeting/sync", request("block"))
	e.untilReached(t, inFlight)
	require.Equal(t, http.StatusOK, e.probe(t, "/readyz").code)

	stopped := time.Now()
	e.stop()
	require.Eventually(t, func() bool { return e.probe(t, "/readyz").code == http.StatusServiceUnavailable },
		delay/2, time.Millisecond, "readiness fails first")
	require.Equal(t, http.StatusOK, e.probe(t, "/healthz").code, "it is alive all the same")
	got := e.post(t, "/greeting/sync", request("hi"))
	require.Less(t, time.Since(stopped), delay, "the test is too slow for its own delay")
	require.Equal(t, http.StatusOK, got.code, "requests are answered while the Service forgets the Pod")

	require.Eventually(t, func() bool {
		got = e.post(t, "/greeting/sync", request("hi"))
		return got.code != http.StatusOK
	}, 5*time.Second, 10*time.Millisecond)
	require.GreaterOrEqual(t, time.Since(stopped), delay)
	require.Equal(t, http.StatusServiceUnavailable, got.code, "then they are refused")
	require.Equal(t, "draining: another replica will answer\n", got.body)
	require.Equal(t, http.StatusServiceUnavailable, e.probe(t, "/readyz").code)
	require.Empty(t, e.ended, "it waits for the request in flight")

	close(e.release)
	require.Equal(t, http.StatusOK, (<-inFlight).code, "which is answered")
	require.NoError(t, <-e.ended)
	for _, address := range []string{e.hooks, e.health} {
		_, err := net.Dial("tcp", address)
		require.Error(t, err, "both listeners are closed")
	}
}

// TestDrainMovesKeptConnections: a connection that is kept open would come back
// until its request is refused.
func TestDrainMovesKeptConnections(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) { o.DrainDelay = 2 * time.Second })
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	closes := func() bool {
		post, err := http.NewRequest(http.MethodPost, "http://"+e.hooks+"/greeting/sync", strings.NewReader(request("hi")))
		require.NoError(t, err)
		response, err := client.Do(post)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode)
		return response.Close
	}
	require.False(t, closes())
	e.stop()
	require.Eventually(t, closes, 1800*time.Millisecond, time.Millisecond)
	require.NoError(t, <-e.ended)
}

func TestDrainWithoutRequestsIsQuick(t *testing.T) {
	e := start(t, func(o *server.Options) { o.ShutdownTimeout = time.Hour })
	e.post(t, "/greeting/sync", request("hi"))
	stopped := time.Now()
	e.stop()
	require.NoError(t, <-e.ended)
	require.Less(t, time.Since(stopped), time.Minute, "it does not wait for its timeout")
}

// TestDrainEnds: a request that never ends does not hold the server for ever.
func TestDrainEnds(t *testing.T) {
	e := start(t, func(o *server.Options) { o.ShutdownTimeout = 50 * time.Millisecond })
	inFlight := e.later("/greeting/sync", request("block"))
	e.untilReached(t, inFlight)
	e.stop()
	require.ErrorContains(t, <-e.ended, "requests were still in flight after 50ms")
	require.NotEqual(t, http.StatusOK, (<-inFlight).code)
	close(e.release)
}
