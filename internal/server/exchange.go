package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/operetta-dev/operetta/internal/metrics"
	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
)

// exchange is a request on its way. It is the ResponseWriter of the handlers, which fill in
// what the log and the metrics tell of it.
type exchange struct {
	http.ResponseWriter

	server         *Server
	began          time.Time
	kind           string // empty if the path is that of no hook
	hook           metacontroller.HookName
	route          *metrics.Route
	held           held
	called         time.Time // when the hook began to run
	status         int
	received, sent int64
	answer         metacontroller.Answer
	err            error
	reason         string // of a refusal
	stack          string // of a panic
}

// Unwrap is for [http.ResponseController].
func (e *exchange) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// end is deferred: it recovers from a panic, whose value may quote the request, so that
// it goes to the log and not into the answer. It counts and logs the request.
func (e *exchange) end(r *http.Request) {
	if reason := recover(); reason != nil {
		e.stack = string(debug.Stack())
		e.refuse(errPanic)
		e.err = fmt.Errorf("panic: %v", reason)
	}
	defer e.server.limits.release(&e.held)
	took := time.Since(e.began)
	e.route.Count(metrics.Request{
		Code: e.status, Duration: took, Received: e.received, Sent: e.sent,
		Refused: e.reason, Panicked: e.stack != "", Answer: &e.answer,
	})
	log, level := e.server.options.Log, e.level()
	if log.Enabled(r.Context(), level) {
		log.LogAttrs(r.Context(), level, "request", e.attributes(r, took)...)
	}
}

// level is debug for an answer that changes nothing.
func (e *exchange) level() slog.Level {
	switch {
	case e.status >= http.StatusInternalServerError:
		return slog.LevelError
	case e.status >= http.StatusBadRequest:
		return slog.LevelWarn
	case !e.answer.Changes.Any() && !e.answer.Finalized:
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}

func (e *exchange) attributes(r *http.Request, took time.Duration) []slog.Attr {
	parent := &e.answer.Parent
	attributes := append(make([]slog.Attr, 0, 20), // there are hardly ever more
		slog.String("kind", e.kind), slog.String("hook", string(e.hook)),
		slog.String("namespace", cut(parent.Namespace)), slog.String("name", cut(parent.Name)),
		slog.String("uid", cut(string(parent.UID))), slog.Int64("generation", parent.Generation),
		slog.Int("status", e.status), slog.Float64("duration", took.Seconds()),
		slog.Int("childrenIn", e.answer.Observed), slog.Int("childrenOut", len(e.answer.Children)),
	)
	if changes := e.answer.Changes; changes.Any() || changes.Withheld > 0 {
		attributes = append(attributes, slog.Int("created", changes.Created), slog.Int("updated", changes.Updated),
			slog.Int("removed", changes.Removed), slog.Int("withheld", changes.Withheld), slog.Bool("statusChanged", changes.Status))
	}
	if ready := e.answer.Ready; ready.Status != "" {
		attributes = append(attributes, slog.String("ready", cut(ready.Status)), slog.String("reason", cut(ready.Reason)))
	}
	if e.kind == "" {
		attributes = append(attributes, slog.String("method", cut(r.Method)), slog.String("path", cut(r.URL.Path)))
	}
	if e.err != nil {
		attributes = append(attributes, slog.String("error", printable.Line(e.err.Error(), maxReason)))
	}
	if e.stack != "" {
		attributes = append(attributes, slog.String("stack", e.stack))
	}
	return attributes
}

// cut cuts a name for the log. No name in Kubernetes is longer.
func cut(text string) string { return printable.Line(text, 253) }
