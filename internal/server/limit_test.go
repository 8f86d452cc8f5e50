package server_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/server"
)

// padded is a request with a spec of so many bytes.
func padded(text string, length int) string {
	return strings.Replace(request(text), `"spec": {`, `"spec": {"x": "`+strings.Repeat("x", length)+`", `, 1)
}

func TestBodiesOfAnyLength(t *testing.T) {
	e := start(t, nil)
	for _, length := range []int{0, 64 << 10, 200_000, 1 << 20} {
		got := e.post(t, "/greeting/sync", padded("hi", length))
		require.Equal(t, http.StatusOK, got.code, "%d: %s", length, got.body)
	}
	for _, length := range []int{64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20, 1<<20 + 1, 10 << 20} { // at the borders
		body := request("hi") + strings.Repeat(" ", length-len(request("hi")))
		require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", body).code, length)
	}
	e.requireAllSeries(t, map[string]string{`operetta_memory_used_bytes{part="small"}`: "0", `operetta_memory_used_bytes{part="large"}`: "0"})
}

// TestLargeRequestsDoNotBlockSmallOnes: while large ones have all the memory that they may
// have, another large one waits and is refused, and small ones are answered.
func TestLargeRequestsDoNotBlockSmallOnes(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) {
		o.MemoryBudget, o.MaxInFlight, o.AnswerTimeout = 64<<20, 4, 2*time.Second
	})
	large := request("block") + strings.Repeat(" ", 4<<20)
	for range 2 {
		e.untilReached(t, e.later("/greeting/sync", large))
	}
	third := e.later("/greeting/sync", large)
	e.requireAllSeries(t, map[string]string{`operetta_memory_waiting_requests{part="large"}`: "1"})
	for _, length := range []int{0, 100_000, 1_000_000} {
		require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", padded("hi", length)).code, length)
	}
	require.Equal(t, http.StatusTooManyRequests, (<-third).code)
	close(e.release)
}

// TestPanicReleasesWhatItHolds: the memory would be gone until the process ends.
func TestPanicReleasesWhatItHolds(t *testing.T) {
	e := start(t, func(o *server.Options) { o.MaxInFlight = 1 })
	require.Equal(t, http.StatusInternalServerError, e.post(t, "/greeting/sync", padded("panic", 2<<20)).code)
	e.requireAllSeries(t, map[string]string{
		`operetta_memory_used_bytes{part="large"}`: "0", `operetta_hook_slots_used{part="sync"}`: "0", "operetta_requests_in_flight": "0",
	})
}

// TestSlowBodies: one that stops in its first part holds no memory of the budget, one that
// stops later does so for a second.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	begin := func(sent int) net.Conn {
		connection, err := net.Dial("tcp", e.hooks)
		require.NoError(t, err)
		t.Cleanup(func() { _ = connection.Close() })
		_, err = fmt.Fprintf(connection, "POST /greeting/sync HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n%s", strings.Repeat(" ", sent))
		require.NoError(t, err)
		return connection
	}
	for range 100 {
		begin(60_000)
	}
	e.requireSeries(t, "operetta_requests_in_flight", "100")
	require.Equal(t, "0", e.scrape(t, `operetta_memory_used_bytes{part="small"}`))
	late := begin(70_000)
	e.requireSeries(t, `operetta_memory_used_bytes{part="small"}`, "3e+06")
	began := time.Now()
	response, err := http.ReadResponse(bufio.NewReader(late), nil)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusTooManyRequests, response.StatusCode)
	require.Less(t, time.Since(began), time.Minute)
	e.requireAllSeries(t, map[string]string{`operetta_memory_used_bytes{part="small"}`: "0", `operetta_requests_refused_total{reason="slow_body"}`: "1"})
}

// TestCustomizeHasItsOwnSlots: Metacontroller calls it from the goroutine that distributes
// the events of a kind to all controllers. It waits for no sync, and for no more than a second.
func TestCustomizeHasItsOwnSlots(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) {
		o.MaxInFlight, o.AnswerTimeout, o.MemoryBudget = 1, 5*time.Minute, 16<<20
	})
	e.untilReached(t, e.later("/greeting/sync", padded("block", 1_100_000)))
	require.Equal(t, http.StatusOK, e.post(t, "/greeting/customize", request("hi")).code)
	e.later("/greeting/sync", request("hi")+strings.Repeat(" ", 7<<20)) // takes the rest of the memory for large requests
	e.requireSeries(t, `operetta_memory_waiting_requests{part="large"}`, "1")
	began := time.Now()
	got := e.post(t, "/greeting/customize", padded("hi", 1_100_000))
	require.Equal(t, http.StatusTooManyRequests, got.code)
	require.Less(t, time.Since(began), time.Minute)
	close(e.release)
}
