package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/server"
	"github.com/operetta-dev/operetta/metacontroller"
)

// edge is a server that runs in this process, with real connections.
type edge struct {
	*toy
	hooks, health string // addresses
	log           *logbook
	stop          func()
	ended         chan error // what Run returned
}

// start starts a server and ends it with the test.
func start(t *testing.T, change func(*server.Options)) *edge {
	t.Helper()
	e := &edge{toy: newToy(), log: &logbook{}, ended: make(chan error, 1)}
	options := server.Options{
		Controllers:     []metacontroller.Controller{e.greeting(), e.farewell()},
		Now:             func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		Log:             slog.New(slog.NewJSONHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		MaxBodyBytes:    server.DefaultMaxBodyBytes,
		MaxInFlight:     server.DefaultMaxInFlight(),
		ShutdownTimeout: 10 * time.Second,
	}
	if change != nil {
		change(&options)
	}
	hooks, health := listen(t), listen(t)
	e.hooks, e.health = hooks.Addr().String(), health.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	e.stop = stop
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.ended <- server.New(options).Run(ctx, hooks, health)
	}()
	t.Cleanup(func() { stop(); <-done })
	return e
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return listener
}

// answered is a response, read to its end.
type answered struct {
	code   int
	header http.Header
	body   string
}

// do sends a request on a connection of its own.
func (e *edge) do(method, path string, body io.Reader) (answered, error) {
	request, err := http.NewRequest(method, "http://"+e.hooks+path, body)
	if err != nil {
		return answered{}, err
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	return roundTrip(&http.Client{Transport: transport}, request)
}

func roundTrip(client *http.Client, request *http.Request) (answered, error) {
	response, err := client.Do(request)
	if err != nil {
		return answered{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return answered{response.StatusCode, response.Header, string(text)}, err
}

// post posts to a hook, and fails the test without an answer.
func (e *edge) post(t *testing.T, path, body string) answered {
	t.Helper()
	got, err := e.do(http.MethodPost, path, strings.NewReader(body))
	require.NoError(t, err)
	return got
}

// later posts while the test goes on.
func (e *edge) later(path, body string) <-chan answered {
	got := make(chan answered, 1)
	go func() {
		response, err := e.do(http.MethodPost, path, strings.NewReader(body))
		if err != nil {
			response.body = err.Error()
		}
		got <- response
	}()
	return got
}

// untilReached waits until a hook blocks for a request. An answer instead fails
// the test, which would hang otherwise.
func (e *edge) untilReached(t *testing.T, request <-chan answered) {
	t.Helper()
	select {
	case <-e.reached:
	case got := <-request:
		require.FailNow(t, "the request was answered before its hook ran", "%d %s", got.code, got.body)
	}
}

// probe asks the metrics port.
func (e *edge) probe(t *testing.T, path string) answered {
	t.Helper()
	return e.probeBy(t, http.MethodGet, path)
}

func (e *edge) probeBy(t *testing.T, method, path string) answered {
	t.Helper()
	request, err := http.NewRequest(method, "http://"+e.health+path, nil)
	require.NoError(t, err)
	got, err := roundTrip(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, request)
	require.NoError(t, err)
	return got
}

// logbook collects the lines of a log.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds lines.
func (l *logbook) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// String returns all that has been logged.
func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// requests returns the lines about requests, once there are as many as wanted.
// A line is written just after the client has its answer.
func (l *logbook) requests(t *testing.T, wanted int) []map[string]any {
	t.Helper()
	var lines []map[string]any
	require.Eventually(t, func() bool {
		lines = l.all()
		return len(lines) >= wanted
	}, time.Minute, time.Millisecond)
	require.Len(t, lines, wanted)
	return lines
}

// all returns the lines about requests that there are.
func (l *logbook) all() (lines []map[string]any) {
	for text := range strings.Lines(l.String()) {
		var line map[string]any
		if json.Unmarshal([]byte(text), &line) == nil && line["msg"] == "request" {
			lines = append(lines, line)
		}
	}
	return lines
}

// request returns a sync request for a Greeting with one observed child.
func request(text string) string {
	return `{"parent": {"apiVersion": "toys.example.com/v1", "kind": "Greeting",
		"metadata": {"namespace": "default", "name": "hello", "uid": "u-1", "generation": 7}, "spec": {"text": "` + text + `"}},
		"children": {"ConfigMap.v1": {"default/hello": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": "hello"}}}},
		"related": {}, "finalizing": false}`
}
