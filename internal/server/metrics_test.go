package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"runtime"
	"strconv"
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
		`operetta_memory_used_bytes{part="small"}`:                                          "0",
		`operetta_hook_slots_used{part="sync"}`:                                             "0",
		`operetta_request_duration_seconds_bucket{hook="sync",kind="greeting",le="+Inf"}`:   "7",
		`operetta_request_duration_seconds_bucket{hook="customize",kind="greeting",le="8"}`: "1",
		`operetta_request_size_bytes_bucket{hook="customize",kind="greeting",le="1024"}`:    "1",
		`operetta_response_size_bytes_bucket{hook="customize",kind="farewell",le="1024"}`:   "0",
	})
}

// TestMetricsShowWhatIsHeld while a request is computed and another waits.
func TestMetricsShowWhatIsHeld(t *testing.T) {
	e := start(t, func(o *server.Options) { o.MaxInFlight = 1 })
	body := padded("block", 100_000)
	working := e.later("/greeting/sync", body)
	e.untilReached(t, working)
	waiting := e.later("/greeting/sync", request("hi"))
	e.requireAllSeries(t, map[string]string{
		"operetta_requests_in_flight":                       "2",
		`operetta_hook_slots{part="sync"}`:                  "1",
		`operetta_hook_slots_used{part="sync"}`:             "1",
		`operetta_hook_slots_waiting_requests{part="sync"}`: "1",
		`operetta_memory_used_bytes{part="small"}`:          strconv.Itoa(3 * len(body)),
		`operetta_memory_waiting_requests{part="small"}`:    "0",
	})
	require.NotEqual(t, "0", e.scrape(t, "operetta_connections"))
	close(e.release)
	require.Equal(t, http.StatusOK, (<-working).code)
	require.Equal(t, http.StatusOK, (<-waiting).code)
	e.requireAllSeries(t, map[string]string{
		"operetta_requests_in_flight": "0", `operetta_memory_used_bytes{part="small"}`: "0", `operetta_hook_slots_used{part="sync"}`: "0",
	})
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

// TestProfilesAreOptional: without the option there is none.
func TestProfilesAreOptional(t *testing.T) {
	t.Parallel()
	off, on := start(t, nil), start(t, func(o *server.Options) { o.Pprof = true })
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline", "/debug/pprof/profile?seconds=1"} {
		require.Equal(t, http.StatusNotFound, off.probe(t, path).code, path)
		require.Equal(t, http.StatusOK, on.probe(t, path).code, path)
	}
	got, err := on.do(http.MethodGet, "/debug/pprof/", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, got.code, "not on the port of the hooks")
}
