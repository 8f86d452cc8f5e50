package tracing

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// logbook is where a test reads the log.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// lines returns the lines of a level.
func (l *logbook) lines(t *testing.T, level slog.Level) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []map[string]any
	for text := range strings.Lines(l.text.String()) {
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		if line["level"] == level.String() {
			found = append(found, line)
		}
	}
	return found
}

// setting sets the environment of a test: these variables, and no other of OpenTelemetry's.
func setting(t *testing.T, variables map[string]string) (*logbook, *slog.Logger) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for name, value := range variables {
		t.Setenv(name, value)
	}
	book := &logbook{}
	return book, slog.New(slog.NewJSONHandler(book, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// collector is one on loopback. It keeps what it is sent.
type collector struct {
	*httptest.Server

	mu     sync.Mutex
	bodies []byte
	paths  []string
}

func newCollector(t *testing.T, answer http.HandlerFunc) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		c.bodies, c.paths = append(c.bodies, body...), append(c.paths, r.URL.Path)
		c.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}

// received returns what has been sent, in which texts stand as they are, and how often.
func (c *collector) received() (string, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.bodies), len(c.paths)
}

func ok(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func TestTheEnvironmentSaysWhetherRequestsAreTraced(t *testing.T) {
	const endpoint, traces = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	const url = "http://127.0.0.1:1"
	for name, test := range map[string]struct {
		variables map[string]string
		isOn      bool
		warning   string
	}{
		"nothing":                    {},
		"a name alone":               {variables: map[string]string{"OTEL_SERVICE_NAME": "hooks"}},
		"a collector":                {map[string]string{endpoint: url}, true, ""},
		"a collector of traces":      {map[string]string{traces: url + "/v1/traces"}, true, ""},
		"the exporter alone":         {map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true, ""},
		"no exporter":                {map[string]string{endpoint: url, "OTEL_TRACES_EXPORTER": "none"}, false, ""},
		"disabled":                   {map[string]string{endpoint: url, "OTEL_SDK_DISABLED": "TRUE"}, false, ""},
		"not disabled":               {map[string]string{endpoint: url, "OTEL_SDK_DISABLED": "false"}, true, ""},
		"another exporter":           {map[string]string{endpoint: url, "OTEL_TRACES_EXPORTER": "zipkin"}, false, `OTEL_TRACES_EXPORTER "zipkin" is not supported`},
		"another protocol":           {map[string]string{endpoint: url, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, `OTEL_EXPORTER_OTLP_PROTOCOL "grpc" is not supported`},
		"the protocol for traces":    {map[string]string{endpoint: url, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}, true, ""},
		"another one for the traces": {map[string]string{endpoint: url, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc"}, false, `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL "grpc" is not supported`},
	} {
		t.Run(name, func(t *testing.T) {
			book, log := setting(t, test.variables)
			before := runtime.NumGoroutine()
			exporter := FromEnvironment(t.Context(), log, "v1")
			require.Equal(t, test.isOn, exporter != nil)
			require.Equal(t, test.isOn, exporter.Tracer() != nil)
			if !test.isOn {
				require.LessOrEqual(t, runtime.NumGoroutine(), before, "nothing runs")
			}
			exporter.Shutdown(t.Context())
			warnings := book.lines(t, slog.LevelWarn)
			if test.warning == "" {
				require.Empty(t, warnings)
				return
			}
			require.Len(t, warnings, 1)
			require.Equal(t, "requests are not traced", warnings[0]["msg"])
			require.Contains(t, warnings[0]["error"], test.warning)
		})
	}
}

// TestVariablesThatCannotBeReadAreNotQuoted: they can have credentials.
func TestVariablesThatCannotBeReadAreNotQuoted(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_HEADERS":         "authorization=Bearer%zz-s3cret,s3cret",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS":  "s3cret s3cret=a",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://user:s3cret@%zz",
		"OTEL_EXPORTER_OTLP_TIMEOUT":         "s3cret",
	} {
		book, log := setting(t, map[string]string{"OTEL_TRACES_EXPORTER": "otlp", name: value})
		FromEnvironment(t.Context(), log, "v1").Shutdown(t.Context())
		require.Regexp(t, "OpenTelemetry: |not traced", book.text.String(), name)
		require.NotContains(t, book.text.String(), "s3cret", name)
	}
}

func TestSpansAreSent(t *testing.T) {
	c := newCollector(t, ok)
	book, log := setting(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_SERVICE_NAME": "hooks", "OTEL_RESOURCE_ATTRIBUTES": "k8s.pod.name=operetta-0,service.version=mine",
	})
	exporter := FromEnvironment(t.Context(), log, "v1.2.3")
	_, span := exporter.Tracer().Start(t.Context(), "a request", trace.WithAttributes(attribute.String("color", "green")))
	span.End()
	exporter.Shutdown(t.Context())
	got, times := c.received()
	require.Equal(t, 1, times)
	require.Equal(t, []string{"/v1/traces"}, c.paths)
	for _, text := range []string{"a request", "green", "hooks", "operetta-0", "mine", "v1.2.3"} { // the last as the scope's
		require.Contains(t, got, text)
	}
	id := span.SpanContext().TraceID()
	require.Contains(t, got, string(id[:]), hex.EncodeToString(id[:]))
	require.NotRegexp(t, ofTheService, got)
	require.Empty(t, book.lines(t, slog.LevelWarn))
}

// ofTheService finds service.name in what is sent, between the lengths of the parts.
const ofTheService = `(?s)service\.name\x12.\x0a.operetta`

func TestTheServiceHasAName(t *testing.T) {
	c := newCollector(t, ok)
	_, log := setting(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL})
	exporter := FromEnvironment(t.Context(), log, "v1.2.3")
	_, span := exporter.Tracer().Start(t.Context(), "a request")
	span.End()
	exporter.Shutdown(t.Context())
	got, _ := c.received()
	require.Regexp(t, ofTheService, got)
	require.Regexp(t, `(?s)service\.version\x12.\x0a.v1\.2\.3`, got)
}

func TestTheSamplerIsThatOfTheEnvironment(t *testing.T) {
	c := newCollector(t, ok)
	_, log := setting(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_TRACES_SAMPLER": "parentbased_always_off"})
	exporter := FromEnvironment(t.Context(), log, "v1")
	_, span := exporter.Tracer().Start(t.Context(), "of nobody")
	span.End()
	parent := trace.ContextWithRemoteSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled, Remote: true,
	}))
	_, span = exporter.Tracer().Start(parent, "of a caller")
	span.End()
	exporter.Shutdown(t.Context())
	got, _ := c.received()
	require.NotContains(t, got, "of nobody")
	require.Contains(t, got, "of a caller")
}

// TestACollectorThatHangsHoldsNobodyUp: several times what the queue holds is ended at once,
// and the rest is dropped.
func TestACollectorThatHangsHoldsNobodyUp(t *testing.T) {
	release := make(chan struct{})
	c := newCollector(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release) // before the collector is closed
	book, log := setting(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL})
	exporter := FromEnvironment(t.Context(), log, "v1")
	tracer := exporter.Tracer()
	began := time.Now()
	for range 10_000 {
		_, span := tracer.Start(t.Context(), "a request")
		span.End()
	}
	require.Less(t, time.Since(began), 8*time.Second, "the exporter's own timeout is 10 s for each batch of 512")
	_, times := c.received()
	require.LessOrEqual(t, times, 1, "one batch is on its way, and the others wait")

	began = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	exporter.Shutdown(ctx)
	require.Less(t, time.Since(began), 5*time.Second)
	warnings := book.lines(t, slog.LevelWarn)
	require.NotEmpty(t, warnings)
	require.LessOrEqual(t, len(warnings), 2, "one that sending fails, one that the last were not sent")
	require.Equal(t, "the last spans were not sent", warnings[len(warnings)-1]["msg"])
}

// TestFailuresAreLoggedNowAndThen, whatever a collector answers.
func TestFailuresAreLoggedNowAndThen(t *testing.T) {
	c := newCollector(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no\x1b[2J"+strings.Repeat("x", 10_000), http.StatusBadRequest)
	})
	book, log := setting(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "1"})
	exporter := FromEnvironment(t.Context(), log, "v1")
	for range 20 {
		_, span := exporter.Tracer().Start(t.Context(), "a request")
		span.End()
	}
	exporter.Shutdown(t.Context())
	_, times := c.received()
	require.Equal(t, 20, times)
	warnings := book.lines(t, slog.LevelWarn)
	require.Len(t, warnings, 1)
	require.Equal(t, "traces cannot be sent", warnings[0]["msg"])
	require.NotContains(t, warnings[0]["error"], "\x1b")
	require.LessOrEqual(t, len(warnings[0]["error"].(string)), mostError+len("..."))

	now := time.Now()
	book = &logbook{}
	failures := &failures{log: slog.New(slog.NewJSONHandler(book, nil)), now: func() time.Time { return now }}
	for range 3 {
		failures.Handle(errors.New("down"))
	}
	require.Len(t, book.lines(t, slog.LevelWarn), 1)
	now = now.Add(logEvery)
	failures.Handle(errors.New("down"))
	warnings = book.lines(t, slog.LevelWarn)
	require.Len(t, warnings, 2)
	require.EqualValues(t, 3, warnings[1]["failures"], "those that were not logged, and this one")
}
