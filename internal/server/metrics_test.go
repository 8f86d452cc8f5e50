package server_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/server"
)

// scrapeAll returns the values of some series, as they are written, and zero for one
// that does not exist.
func (e *edge) scrapeAll(t *testing.T, wanted map[string]string) map[string]string {
	t.Helper()
	got := e.probe(t, "/metrics")
	require.Equal(t, http.StatusOK, got.code)
	values := map[string]string{}
	for series := range wanted {
		values[series] = "0"
	}
	for line := range strings.Lines(got.body) {
		if end := strings.LastIndexByte(line, ' '); end > 0 && values[line[:end]] != "" {
			values[line[:end]] = strings.TrimSpace(line[end:])
		}
	}
	return values
}

// scrape returns the value of one series.
func (e *edge) scrape(t *testing.T, series string) string {
	t.Helper()
	return e.scrapeAll(t, map[string]string{series: ""})[series]
}

// requireAllSeries waits until some series have their values: a request is counted just
// after the client has its answer.
func (e *edge) requireAllSeries(t *testing.T, want map[string]string) {
	t.Helper()
	var got map[string]string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got = e.scrapeAll(t, want); maps.Equal(got, want) {
			return
		}
	}
	require.Equal(t, want, got)
}

// requireSeries waits until one series has its value.
func (e *edge) requireSeries(t *testing.T, series, want string) {
	t.Helper()
	e.requireAllSeries(t, map[string]string{series: want})
}

func TestMetricsCountRequests(t *testing.T) {
	e := start(t, func(o *server.Options) { o.MaxBodyBytes, o.Version = 1<<20, "v1.2.3" })
	const ok = `operetta_requests_total{code="200",hook="sync",kind="greeting"}`
	require.Equal(t, "0", e.scrape(t, ok))
	require.Contains(t, e.probe(t, "/metrics").body, ok+" 0\n", "rate() does not see a series appear")
	body := request("hi")
	for range 3 {
		e.post(t, "/greeting/sync", body)
	}
	e.post(t, "/greeting/customize", body)
	e.post(t, "/greeting/sync", request("fail"))
	e.post(t, "/greeting/sync", request("panic"))
	e.post(t, "/greeting/sync", "")
	e.post(t, "/greeting/sync", strings.Repeat("0", 5<<20))
	e.post(t, "/salute/sync", body)
	_, err := e.do(http.MethodGet, "/greeting/sync", nil)
	require.NoError(t, err)
	e.log.requests(t, 10)
	e.requireAllSeries(t, map[string]string{
		ok: "3",
		`operetta_requests_total{code="200",hook="customize",kind="greeting"}`:              "1",
		`operetta_requests_total{code="500",hook="sync",kind="greeting"}`:                   "2",
		`operetta_requests_total{code="400",hook="sync",kind="greeting"}`:                   "1",
		`operetta_requests_total{code="413",hook="sync",kind="greeting"}`:                   "1",
		`operetta_requests_total{code="404",hook="",kind=""}`:                               "1",
		`operetta_requests_total{code="405",hook="",kind=""}`:                               "1",
		`operetta_requests_refused_total{reason="bad_request"}`:                             "1",
		`operetta_requests_refused_total{reason="too_large"}`:                               "1",
		`operetta_requests_refused_total{reason="no_such_hook"}`:                            "2",
		`operetta_requests_refused_total{reason="busy"}`:                                    "0",
		`operetta_panics_total{hook="sync",kind="greeting"}`:                                "1",
		`operetta_request_duration_seconds_count{hook="sync",kind="greeting"}`:              "7",
		`operetta_request_size_bytes_sum{hook="customize",kind="greeting"}`:                 fmt.Sprint(len(body)),
		`operetta_response_size_bytes_sum{hook="customize",kind="greeting"}`:                fmt.Sprint(len(`{"relatedResources":[]}`)),
		`operetta_answered_children_total{as="asked",hook="sync",kind="greeting"}`:          "3",
		`operetta_children_changes_total{change="updated",hook="sync",kind="greeting"}`:     "3",
		`operetta_children_changes_total{change="created",hook="sync",kind="greeting"}`:     "0",
		`operetta_status_changes_total{hook="sync",kind="greeting"}`:                        "3",
		`operetta_requests_total{code="200",hook="sync",kind="farewell"}`:                   "0",
		`operetta_connections_limit`:                                                        "1024",
		`operetta_build_info{goversion="` + runtime.Version() + `",version="v1.2.3"}`:       "1",
		`operetta_requests_in_flight`:                                                       "0",
		`operetta_memory_used_bytes{part="tiny"}`:                                           "0",
		`operetta_hook_slots_used{part="all"}`:                                              "0",
		`operetta_requests_total{code="200",hook="finalize",kind="greeting"}`:               "0",
		`operetta_answered_children_total{as="kept",hook="sync",kind="greeting"}`:           "0",
		`operetta_children_changes_total{change="removed",hook="finalize",kind="greeting"}`: "0",
		`operetta_requests_refused_total{reason="unauthorized"}`:                            "0",
		`operetta_memory_waiting_requests{part="large"}`:                                    "0",
		`operetta_request_duration_seconds_bucket{hook="sync",kind="greeting",le="+Inf"}`:   "7",
		`operetta_request_duration_seconds_bucket{hook="customize",kind="greeting",le="8"}`: "1",
		`operetta_request_size_bytes_bucket{hook="customize",kind="greeting",le="1024"}`:    "1",
		`operetta_response_size_bytes_bucket{hook="customize",kind="farewell",le="1024"}`:   "0",
	})
}

// TestMetricsShowWhatIsHeld while a request is computed and another waits.
func TestMetricsShowWhatIsHeld(t *testing.T) {
	e := start(t, func(o *server.Options) { o.MaxInFlight = 1 })
	working := e.later("/greeting/sync", request("block"))
	e.untilReached(t, working)
	waiting := e.later("/greeting/sync", request("hi"))
	e.requireSeries(t, "operetta_requests_in_flight", "2")
	e.requireSeries(t, `operetta_hook_slots{part="all"}`, "1")
	e.requireSeries(t, `operetta_hook_slots_used{part="all"}`, "1")
	e.requireSeries(t, `operetta_hook_slots_waiting_requests{part="tiny"}`, "1")
	require.NotEqual(t, "0", e.scrape(t, `operetta_memory_used_bytes{part="tiny"}`))
	require.NotEqual(t, "0", e.scrape(t, "operetta_connections"))
	close(e.release)
	require.Equal(t, http.StatusOK, (<-working).code)
	require.Equal(t, http.StatusOK, (<-waiting).code)
	e.requireSeries(t, "operetta_requests_in_flight", "0")
	e.requireSeries(t, `operetta_memory_used_bytes{part="tiny"}`, "0")
}

// TestNobodyMakesLabelValues: whatever is in paths, methods, names and bodies, the series
// are the same.
func TestNobodyMakesLabelValues(t *testing.T) {
	e := start(t, nil)
	series := func() []string {
		found := regexp.MustCompile(`(?m)^operetta_[^ ]+`).FindAllString(e.probe(t, "/metrics").body, -1)
		require.NotEmpty(t, found)
		return found
	}
	e.post(t, "/greeting/sync", request("hi"))
	e.log.requests(t, 1)
	before := series()
	for i := range 20 {
		name := fmt.Sprintf("evil-%d", i)
		e.post(t, "/"+name+"/sync", "")
		e.post(t, "/greeting/"+name, "")
		_, err := e.do(strings.ToUpper(name), "/greeting/sync", nil)
		require.NoError(t, err)
		e.post(t, "/greeting/sync", strings.NewReplacer("hello", name, "u-1", name).Replace(request(name)))
		e.post(t, "/greeting/sync", strings.ReplaceAll(request(name), "ConfigMap", name))
		e.post(t, "/greeting/sync", strings.ReplaceAll(request(name), "Greeting", name))
	}
	e.log.requests(t, 1+6*20)
	require.Equal(t, before, series())
	require.NotContains(t, e.probe(t, "/metrics").body, "evil")
}

// TestMetricsHaveNothingOfTheLibraries: those of Kubernetes count in the default registry.
func TestMetricsHaveNothingOfTheLibraries(t *testing.T) {
	for line := range strings.Lines(start(t, nil).probe(t, "/metrics").body) {
		require.Regexp(t, `^(# (HELP|TYPE) )?(operetta|go|process)_`, line)
	}
}

func TestMetricsAreOnlyRead(t *testing.T) {
	e := start(t, nil)
	require.Equal(t, http.StatusMethodNotAllowed, e.probeBy(t, http.MethodPost, "/metrics").code)
	got, err := e.do(http.MethodGet, "/metrics", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, got.code, "not on the port of the hooks")
}

// TestProfilesAreAskedFor: without the flag there is none, with it one at a time, and none
// that takes longer than the port lets an answer take.
func TestProfilesAreAskedFor(t *testing.T) {
	t.Parallel()
	off := start(t, nil)
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline", "/debug/pprof/profile"} {
		require.Equal(t, http.StatusNotFound, off.probe(t, path).code, path)
	}
	e := start(t, func(o *server.Options) { o.Pprof = true })
	require.Contains(t, e.probe(t, "/debug/pprof/").body, "goroutine")
	require.Contains(t, e.probe(t, "/debug/pprof/goroutine?debug=1").body, "goroutine profile: total")
	for _, seconds := range []string{"16", "15.5", "1e9", "-1", "x", "NaN"} {
		for _, path := range []string{"profile", "trace", "heap"} {
			got := e.probe(t, "/debug/pprof/"+path+"?seconds="+seconds)
			require.Equal(t, http.StatusBadRequest, got.code, seconds)
			require.Equal(t, "seconds is a number from 1 to 15\n", got.body)
		}
	}
	require.Equal(t, http.StatusBadRequest, e.probe(t, "/debug/pprof/profile").code, "30 s are the default")
	got, err := e.do(http.MethodGet, "/debug/pprof/", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, got.code, "not on the port of the hooks")

	refused, taken := make(chan struct{}), make(chan int)
	go func() { // one after the other, until one below was refused meanwhile
		defer close(taken)
		for {
			taken <- e.probe(t, "/debug/pprof/trace?seconds=1").code
			select {
			case <-refused:
				return
			default:
			}
		}
	}()
	go func() {
		defer close(refused)
		for e.probe(t, "/debug/pprof/heap").code != http.StatusTooManyRequests {
			time.Sleep(10 * time.Millisecond)
		}
	}()
	codes := map[int]bool{}
	for code := range taken {
		codes[code] = true
	}
	delete(codes, http.StatusTooManyRequests) // one of the others came first
	require.Equal(t, map[int]bool{http.StatusOK: true}, codes)
	require.Equal(t, http.StatusOK, e.probe(t, "/debug/pprof/heap").code)
}

// TestMetricsOutliveADeadScraper: one that asks and does not read holds no other up.
func TestMetricsOutliveADeadScraper(t *testing.T) {
	e := start(t, nil)
	for range 20 {
		conn, err := net.Dial("tcp", e.health)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return e.probe(t, "/metrics").code == http.StatusOK }, 5*time.Second, 10*time.Millisecond)
}
