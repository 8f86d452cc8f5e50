package server

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/operetta-dev/operetta/metacontroller"
)

// traceHeader tells of which trace a request is a part.
const traceHeader = "Traceparent"

// flushTime is the part of a drain that spans may take to be sent.
const flushTime = 3 * time.Second

// traced starts the span of a request, if there is a tracer; logRequests ends it.
// It stands behind the authentication and the routes, so that a span is of a caller
// who may call and of a hook that there is.
func (s *Server) traced(kind string, hook metacontroller.HookName) func(http.Handler) http.Handler {
	if s.options.Tracer == nil {
		return func(next http.Handler) http.Handler { return next }
	}
	route := "/" + kind + "/" + string(hook)
	start := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", http.MethodPost), attribute.String("http.route", route),
		attribute.String("operetta.kind", kind), attribute.String("operetta.hook", string(hook)),
	)}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
			r.Header.Del(traceHeader)
			ctx, lineOf(r).span = s.options.Tracer.Start(ctx, http.MethodPost+" "+route, start...)
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// endSpan ends the span of a request. It has nothing that a user can write but the
// parent's namespace and name, as they are in the log: an error is told by its
// status and its reason alone.
func (l *line) endSpan(status int, sent int64) {
	if l.span == nil {
		return
	}
	defer l.span.End()
	if !l.span.IsRecording() {
		return
	}
	l.span.SetAttributes(
		attribute.Int("http.response.status_code", status),
		attribute.Int64("http.request.body.size", l.received.bytes), attribute.Int64("http.response.body.size", sent),
		attribute.Int("operetta.children.observed", l.answer.Observed), attribute.Int("operetta.children.answered", len(l.answer.Children)),
	)
	if changes := l.answer.Changes; changes.Any() || changes.Withheld > 0 {
		l.span.SetAttributes(
			attribute.Int("operetta.children.created", changes.Created), attribute.Int("operetta.children.updated", changes.Updated),
			attribute.Int("operetta.children.removed", changes.Removed), attribute.Int("operetta.children.withheld", changes.Withheld),
			attribute.Bool("operetta.status.changed", changes.Status),
		)
	}
	if parent := l.answer.Parent; parent.Name != "" {
		l.span.SetAttributes(attribute.String("k8s.namespace.name", named(parent.Namespace)), attribute.String("operetta.parent.name", named(parent.Name)))
	}
	if status < http.StatusBadRequest {
		return
	}
	reason := l.refused(status)
	switch {
	case l.stack != "":
		reason = "panic"
	case reason == "":
		reason = strconv.Itoa(status)
	}
	l.span.SetAttributes(attribute.String("error.type", reason))
	if status >= http.StatusInternalServerError {
		l.span.SetStatus(codes.Error, "")
	}
}

// step is a part of a request. It has a span where requests are traced.
type step struct{ span trace.Span }

// Steps of a request beside those of the call itself.
const (
	readStep   = "read body" // the wait for memory included
	memoryStep = "wait for memory"
	turnStep   = "wait for turn"
	writeStep  = "write answer"
)

func (j *job) begin(name string) step {
	if j.server.options.Tracer == nil {
		return step{}
	}
	_, span := j.server.options.Tracer.Start(j.request, name)
	return step{span}
}

func (s step) end() {
	if s.span != nil {
		s.span.End()
	}
}

// follow returns a function that is told the steps of a call, and one that ends the
// last of them. The first is nil where requests are not traced.
func (j *job) follow() (next func(metacontroller.Step), end func()) {
	if j.server.options.Tracer == nil {
		return nil, func() {}
	}
	var current step
	next = func(name metacontroller.Step) {
		current.end()
		current = j.begin(string(name))
	}
	return next, func() { current.end() }
}

// flush has the spans sent that have ended. Who waits for the process to end
// waits for a collector no longer than that.
func (s *Server) flush(ctx context.Context) {
	if s.options.Flush == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	s.options.Flush(ctx)
}
