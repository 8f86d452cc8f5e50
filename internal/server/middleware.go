package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/otel/trace"

	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
)

// line is the log line of a request, filled in while it is handled. The
// duration is in seconds.
type line struct {
	kind   string
	hook   metacontroller.HookName
	answer metacontroller.Answer
	err    error
	stack  string     // of a panic
	span   trace.Span // nil where it is not traced

	received      bodyCounter // the body
	began, unread bool        // whether some of the body was read, and not all
}

type lineKey struct{}

// lineOf returns the line of a request that has passed logRequests.
func lineOf(r *http.Request) *line { return r.Context().Value(lineKey{}).(*line) }

// logRequests writes one line for each request, and counts it.
func (s *Server) logRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		line := &line{}
		wrapped := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		counted := r.WithContext(context.WithValue(r.Context(), lineKey{}, line))
		line.received.ReadCloser, counted.Body = r.Body, &line.received
		line.received.conn = limitedOf(connectionOf(r))
		next.ServeHTTP(wrapped, counted)
		status, took := wrapped.Status(), time.Since(start)
		s.count(line, status, took, int64(wrapped.BytesWritten()))
		line.endSpan(status, int64(wrapped.BytesWritten()))
		if level := line.level(status); s.options.Log.Enabled(r.Context(), level) {
			s.options.Log.LogAttrs(r.Context(), level, "request", line.attributes(r, status, took)...)
		}
	})
}

// forgetHeaders drops the headers that nothing here reads; authenticate drops the
// credentials, and traced the trace. They are not in the memory budget, and a request may wait for long.
// It must be the outermost request, because a router copies it: net/http adds the trailers that
// follow a body to its own request only.
func (s *Server) forgetHeaders(next http.Handler) http.Handler {
	names := []string{"Expect", "Authorization"}
	if s.options.Tracer != nil {
		names = append(names, traceHeader)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept := http.Header{}
		for _, name := range names {
			if value := r.Header.Get(name); value != "" {
				kept.Set(name, strings.Clone(value)) // otherwise it would keep the whole header block alive
			}
		}
		r.Header, r.Trailer = kept, nil
		r.Body = trailerless{r.Body, r}
		next.ServeHTTP(w, r)
	})
}

// trailerless is a body whose request forgets the trailers that follow it: nothing here
// reads them, and 4 KB of them can take 100 KB.
type trailerless struct {
	io.ReadCloser
	of *http.Request
}

func (b trailerless) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if err != nil {
		b.of.Trailer = nil
	}
	return n, err
}

// level says who is to see a line: an answer that changes nothing is for whoever looks
// for something.
func (l *line) level(status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	case status >= http.StatusBadRequest:
		return slog.LevelWarn
	case !l.answer.Changes.Any() && !l.answer.Finalized:
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}

func (l *line) attributes(r *http.Request, status int, took time.Duration) []slog.Attr {
	attributes := []slog.Attr{
		slog.String("kind", l.kind), slog.String("hook", string(l.hook)),
		slog.String("namespace", named(l.answer.Parent.Namespace)), slog.String("name", named(l.answer.Parent.Name)),
		slog.String("uid", named(string(l.answer.Parent.UID))), slog.Int64("generation", l.answer.Parent.Generation),
		slog.Int("status", status), slog.Float64("duration", took.Seconds()),
		slog.Int("childrenIn", l.answer.Observed), slog.Int("childrenOut", len(l.answer.Children)),
	}
	if changes := l.answer.Changes; changes.Any() || changes.Withheld > 0 {
		attributes = append(attributes, slog.Int("created", changes.Created), slog.Int("updated", changes.Updated),
			slog.Int("removed", changes.Removed), slog.Int("withheld", changes.Withheld), slog.Bool("statusChanged", changes.Status))
	}
	if ready := l.answer.Ready; ready.Status != "" {
		attributes = append(attributes, slog.String("ready", named(ready.Status)), slog.String("reason", named(ready.Reason)))
	}
	if l.kind == "" {
		attributes = append(attributes, slog.String("method", named(r.Method)), slog.String("path", named(r.URL.Path)))
	}
	if l.err != nil {
		attributes = append(attributes, slog.String("error", printable.Line(l.err.Error(), mostReason)))
	}
	if l.stack != "" {
		attributes = append(attributes, slog.String("stack", l.stack))
	}
	return attributes
}

// named cuts a name for the log. No name in Kubernetes is longer.
func named(text string) string { return printable.Line(text, 253) }

// noted records the kind and the hook of a request, even if it is refused.
func noted(kind string, hook metacontroller.HookName) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			line := lineOf(r)
			line.kind, line.hook = kind, hook
			next.ServeHTTP(w, r)
		})
	}
}

// recoverPanics turns a panic into a 500. The panic value may quote the
// request, so it goes to the log and not into the answer.
func recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if reason := recover(); reason != nil {
				line := lineOf(r)
				line.err, line.stack = fmt.Errorf("panic: %v", reason), string(debug.Stack())
				writeLine(w, r, http.StatusInternalServerError, "the hook failed unexpectedly: see the log of the operetta server")
			}
		}()
		next.ServeHTTP(w, r)
	})
}
