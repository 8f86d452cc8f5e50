package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/operetta-dev/operetta/internal/metrics"
	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
)

// refusal is an error of the server itself, and its answer.
type refusal struct {
	code         int
	reason, text string // reason is that of the metrics
}

// Error returns the text.
func (r *refusal) Error() string { return r.text }

var (
	errNoHook   = &refusal{http.StatusNotFound, metrics.NoSuchHook, "no such hook: the path is /<kind>/sync, /<kind>/finalize or /<kind>/customize"}
	errNoPost   = &refusal{http.StatusMethodNotAllowed, metrics.NoSuchHook, "a hook takes POST only"}
	errNoLength = &refusal{http.StatusLengthRequired, metrics.LengthRequired, "the request has no Content-Length"}
	errHalfBody = &refusal{http.StatusBadRequest, metrics.BadRequest, "the request body could not be read to its end"}
	errBusy     = &refusal{http.StatusTooManyRequests, metrics.Busy, "too many requests at once: try again"}
	errSlow     = &refusal{http.StatusTooManyRequests, metrics.SlowBody, "the request body did not arrive in time: try again"}
	errGone     = &refusal{http.StatusServiceUnavailable, metrics.ClientGone, "the client has hung up"}
	errDraining = &refusal{http.StatusServiceUnavailable, metrics.Draining, "draining: another replica will answer"}
	errPanic    = &refusal{http.StatusInternalServerError, "", "the hook failed unexpectedly: see the log of the operetta server"}
)

func tooLarge(limit int64) error {
	return &refusal{http.StatusRequestEntityTooLarge, metrics.TooLarge, fmt.Sprintf("the request body is larger than the limit of %d bytes: raise --max-body-bytes, and the memory limit with it", limit)}
}

// answer returns the handler of one hook. The answer is complete before its
// first byte is sent: a truncated 200 would lack children.
func (s *Server) answer(controller metacontroller.Controller, hook metacontroller.HookName) http.HandlerFunc {
	name := controller.Name()
	route := s.metrics.Route(name, hook)
	late := &refusal{http.StatusInternalServerError, metrics.Late, fmt.Sprintf("no answer was computed within %s: make the resource smaller", s.options.AnswerTimeout)}
	wait := s.options.AnswerTimeout * waitPart / 8
	if hook == metacontroller.CustomizeHook {
		wait = min(wait, customizeWait)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		e := w.(*exchange)
		e.kind, e.hook, e.route = name, hook, route
		s.inFlight.Add(1)
		defer s.inFlight.Add(-1)
		if s.draining.Load() {
			w.Header().Set("Connection", "close") // so that the client connects to another replica
			if s.refusing.Load() {
				e.refuse(errDraining)
				return
			}
		}
		body, err := s.limits.read(e, r, e.began.Add(wait))
		if err != nil {
			e.refuse(err)
			return
		}
		ctx, cancel := context.WithDeadlineCause(r.Context(), e.began.Add(s.options.AnswerTimeout), late)
		defer cancel()
		now := s.options.Now()
		e.answer, err = s.call(ctx, e, controller, now, body, e.began.Add(wait))
		switch {
		case err != nil && r.Context().Err() != nil:
			e.refuse(errGone)
		case err != nil:
			e.refuse(err)
		default:
			if s.options.Record != nil {
				s.options.Record(controller, hook, now, body, e.answer.Body)
			}
			e.send()
		}
	}
}

// call runs a hook when a slot is free.
func (s *Server) call(ctx context.Context, e *exchange, controller metacontroller.Controller, now time.Time, body []byte, until time.Time) (metacontroller.Answer, error) {
	slots, err := s.limits.slot(ctx, until, e.hook)
	if err != nil {
		return metacontroller.Answer{}, err
	}
	defer slots.release(1)
	e.called = time.Now()
	s.running.Store(e, nil)
	defer s.running.Delete(e)
	return controller.CallContext(ctx, e.hook, now, body, s.options.MaxAnswerBytes)
}

func (e *exchange) send() {
	header := e.Header()
	header["Content-Type"] = contentJSON
	header["Content-Length"] = []string{strconv.Itoa(len(e.answer.Body))}
	e.status = http.StatusOK
	e.WriteHeader(http.StatusOK)
	n, _ := e.Write(e.answer.Body) // a closed connection needs no log line
	e.sent = int64(n)
}

var contentJSON = []string{"application/json"}

func (e *exchange) refuse(err error) {
	e.err = err
	answer, ok := errors.AsType[*refusal](err)
	switch {
	case ok:
	case metacontroller.IsRequestError(err):
		answer = &refusal{http.StatusBadRequest, metrics.BadRequest, err.Error()}
	default:
		answer = &refusal{http.StatusInternalServerError, "", err.Error()}
	}
	switch answer.code {
	case http.StatusTooManyRequests:
		// Without a positive number Metacontroller retries at once and without backoff; a
		// random one spreads the retries.
		e.Header().Set("Retry-After", strconv.Itoa(1+rand.IntN(4)))
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Header().Set("Connection", "close") // their number is limited
	}
	e.reason, e.status = answer.reason, answer.code
	e.sent = writeLine(e, answer.code, answer.text)
}

// maxReason is the length in bytes above which a reason is cut. The message of
// an event has at most 1024.
const maxReason = 900

// writeLine answers with one short line of plain text. Metacontroller publishes
// that of an error in an event on the parent.
func writeLine(w http.ResponseWriter, code int, text string) int64 {
	text = printable.Line(text, maxReason) + "\n"
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(code)
	n, _ := io.WriteString(w, text)
	return int64(n)
}
