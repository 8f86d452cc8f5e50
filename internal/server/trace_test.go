package server_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/operetta-dev/operetta/internal/server"
)

// traced starts a server whose spans are kept.
func traced(t *testing.T, change func(*server.Options)) (*edge, *tracetest.SpanRecorder) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("test")
	return start(t, func(o *server.Options) {
		if o.Tracer = tracer; change != nil {
			change(o)
		}
	}), recorder
}

// requestSpan waits for the span of a request, which ends just after the client has its
// answer, and returns it with those of its parts. The recorder is then empty.
func requestSpan(t *testing.T, recorder *tracetest.SpanRecorder) (request sdktrace.ReadOnlySpan, parts []string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, span := range recorder.Ended() {
			if span.SpanKind() == trace.SpanKindServer {
				request = span
			}
		}
		return request != nil
	}, 5*time.Second, time.Millisecond)
	for _, span := range recorder.Ended() {
		if span != request {
			require.Equal(t, request.SpanContext().SpanID(), span.Parent().SpanID(), span.Name())
			require.Empty(t, span.Attributes(), "what is known is of the request")
			parts = append(parts, span.Name())
		}
	}
	recorder.Reset()
	return request, parts
}

func attributes(span sdktrace.ReadOnlySpan) map[string]any {
	found := map[string]any{}
	for _, a := range span.Attributes() {
		found[string(a.Key)] = a.Value.AsInterface()
	}
	return found
}

func TestSpansOfARequest(t *testing.T) {
	e, recorder := traced(t, nil)
	body := request("hi")
	post, err := http.NewRequest(http.MethodPost, "http://"+e.hooks+"/greeting/sync", strings.NewReader(body))
	require.NoError(t, err)
	post.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	post.Header.Set("tracestate", "vendor=opaque")
	got, err := roundTrip(http.DefaultClient, post)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, got.code)

	span, parts := requestSpan(t, recorder)
	require.Equal(t, "POST /greeting/sync", span.Name())
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", span.SpanContext().TraceID().String())
	require.Equal(t, "b7ad6b7169203331", span.Parent().SpanID().String())
	require.Empty(t, span.SpanContext().TraceState().String(), "it is dropped with the other headers")
	require.Equal(t, []string{"wait for memory", "read body", "wait for turn", "decode", "hook", "encode", "write answer"}, parts)
	require.Equal(t, codes.Unset, span.Status().Code)
	require.Equal(t, map[string]any{
		"http.request.method": "POST", "http.route": "/greeting/sync", "http.response.status_code": int64(200),
		"http.request.body.size": int64(len(body)), "http.response.body.size": int64(len(got.body)),
		"operetta.kind": "greeting", "operetta.hook": "sync", "k8s.namespace.name": "default", "operetta.parent.name": "hello",
		"operetta.children.observed": int64(1), "operetta.children.answered": int64(1), "operetta.children.created": int64(0),
		"operetta.children.updated": int64(1), "operetta.children.removed": int64(0), "operetta.children.withheld": int64(0),
		"operetta.status.changed": true,
	}, attributes(span))

	e.post(t, "/greeting/customize", body)
	span, parts = requestSpan(t, recorder)
	require.Equal(t, "POST /greeting/customize", span.Name())
	require.False(t, span.Parent().IsValid(), "it begins a trace of its own")
	require.Equal(t, []string{"wait for memory", "read body", "wait for turn", "decode", "hook", "encode", "write answer"}, parts)
}

func TestSpansOfRequestsThatFail(t *testing.T) {
	e, recorder := traced(t, func(o *server.Options) { o.MaxBodyBytes = 1 << 20 })
	for _, test := range []struct {
		body, reason string
		status       int
		last         string
	}{
		{request("fail"), "500", http.StatusInternalServerError, "hook"},
		{request("panic"), "panic", http.StatusInternalServerError, "hook"},
		{"", "bad_request", http.StatusBadRequest, "decode"},
		{strings.Repeat("0", 5<<20), "too_large", http.StatusRequestEntityTooLarge, "read body"},
	} {
		require.Equal(t, test.status, e.post(t, "/greeting/sync", test.body).code)
		span, parts := requestSpan(t, recorder)
		require.Equal(t, test.reason, attributes(span)["error.type"])
		require.EqualValues(t, test.status, attributes(span)["http.response.status_code"])
		require.Equal(t, test.last, parts[len(parts)-1], "the last part is the one that failed")
		require.Equal(t, test.status >= 500, span.Status().Code == codes.Error)
		require.Empty(t, span.Status().Description, "an error may quote the request")
		require.Empty(t, span.Events())
	}
}

// TestSpansWaitInTheirTurn: who waits is seen waiting.
func TestSpansWaitInTheirTurn(t *testing.T) {
	e, recorder := traced(t, func(o *server.Options) { o.MaxInFlight = 1 })
	working := e.later("/greeting/sync", request("block"))
	e.untilReached(t, working)
	waiting := e.later("/greeting/sync", request("hi"))
	e.requireSeries(t, `operetta_hook_slots_waiting_requests{part="tiny"}`, "1")
	time.Sleep(100 * time.Millisecond)
	close(e.release)
	require.Equal(t, http.StatusOK, (<-working).code)
	require.Equal(t, http.StatusOK, (<-waiting).code)
	var longest time.Duration
	for _, span := range recorder.Ended() {
		if span.Name() == "wait for turn" {
			longest = max(longest, span.EndTime().Sub(span.StartTime()))
		}
	}
	require.GreaterOrEqual(t, longest, 100*time.Millisecond)
}

// TestSpansHaveNothingThatUsersWrite but the namespace and the name, and no span is of a
// path or a method that there is not.
func TestSpansHaveNothingThatUsersWrite(t *testing.T) {
	e, recorder := traced(t, nil)
	hostile := strings.NewReplacer("hello", `evil\u001b[2J`+strings.Repeat("x", 1000), "u-1", "evil-uid", "ConfigMap", "evilKind").Replace(request("evil-text"))
	e.post(t, "/greeting/sync", hostile)
	span, _ := requestSpan(t, recorder)
	for key, value := range attributes(span) {
		text, isText := value.(string)
		if key == "operetta.parent.name" {
			require.True(t, strings.HasPrefix(text, `evil\u001b[2J`), text)
			require.LessOrEqual(t, len(text), 253+len("..."))
		} else if isText {
			require.NotContains(t, text, "evil", key)
		}
	}
	e.post(t, "/evil/sync", "")
	_, err := e.do("EVIL", "/greeting/sync", nil)
	require.NoError(t, err)
	e.log.requests(t, 3)
	require.Empty(t, recorder.Started())
}

// TestStrangersHaveNoSpans, and so cannot have the server send any.
func TestStrangersHaveNoSpans(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	s := startSecured(t, withTokens, func(o *server.Options) {
		o.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("test")
	})
	require.Equal(t, http.StatusUnauthorized, s.caller(t, nil, "wrong-token-0123456789").sync(t, "hi").code)
	s.log.requests(t, 1)
	require.Empty(t, recorder.Started())
	require.Equal(t, http.StatusOK, s.caller(t, nil, oldToken).sync(t, "hi").code)
	span, _ := requestSpan(t, recorder)
	require.Equal(t, "POST /greeting/sync", span.Name())
}

// TestADrainSendsTheSpans when the last request has been answered, for three seconds at
// most.
func TestADrainSendsTheSpans(t *testing.T) {
	var ended []string
	var left time.Duration
	var recorder *tracetest.SpanRecorder
	e, recorder := traced(t, func(o *server.Options) {
		o.Flush = func(ctx context.Context) {
			for _, span := range recorder.Ended() {
				ended = append(ended, span.Name())
			}
			deadline, _ := ctx.Deadline()
			left = time.Until(deadline)
		}
	})
	inFlight := e.later("/greeting/sync", request("block"))
	e.untilReached(t, inFlight)
	e.stop()
	time.Sleep(50 * time.Millisecond)
	close(e.release)
	require.Equal(t, http.StatusOK, (<-inFlight).code)
	require.NoError(t, <-e.ended)
	require.Contains(t, ended, "POST /greeting/sync")
	require.Positive(t, left)
	require.LessOrEqual(t, left, 3*time.Second)
}
