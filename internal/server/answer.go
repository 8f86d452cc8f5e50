package server

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
)

// answer returns the handler of one hook. The answer is complete before its
// first byte is sent: a truncated 200 would lack children.
func (s *Server) answer(controller metacontroller.Controller, hook metacontroller.HookName) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		line := lineOf(r)
		j := s.newJob(r, hook)
		defer j.end()
		reading := j.begin(readStep)
		body, err := j.read(w, r, controller)
		reading.end()
		if err != nil {
			line.err = err
			s.refuse(w, r, err, bodyError)
			return
		}
		now := s.options.Now()
		answer, err := j.call(controller, hook, now, body)
		line.answer, line.err = answer, err
		if err != nil {
			s.refuse(w, r, err, hookError)
			return
		}
		if s.options.Record != nil {
			s.options.Record(controller, hook, now, body, answer.Body)
		}
		line.answer.Body = nil // the log does not contain it
		writing := j.begin(writeStep)
		send(w, answer.Body)
		writing.end()
	}
}

// How long a client may take to read an answer. It holds memory until then.
const (
	sendTime      = 2 * time.Second
	sentPerSecond = 8 << 20
)

func send(w http.ResponseWriter, body []byte) {
	took := sendTime + time.Duration(len(body)/sentPerSecond)*time.Second
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(took))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // a closed connection needs no log line
}

// refuse answers with an error: the server's own ones, or the status and text
// that other returns.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error, other func(error) (int, string)) {
	switch {
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter()))
		writeLine(w, r, http.StatusTooManyRequests, busyText(err))
	case errors.Is(err, errGone):
		writeLine(w, r, http.StatusServiceUnavailable, errGone.Error())
	case errors.Is(err, errLate):
		writeLine(w, r, http.StatusInternalServerError, fmt.Sprintf("no answer was computed within %s: make the resource smaller", s.options.AnswerTimeout))
	default:
		code, text := other(err)
		writeLine(w, r, code, text)
	}
}

func busyText(err error) string {
	if errors.Is(err, errSlow) {
		return "the request body did not arrive in time: try again"
	}
	return "too many requests at once: try again"
}

// retryAfter is the header of 429, in seconds. Without a positive number
// Metacontroller retries at once and without backoff; a random one spreads the
// retries.
func retryAfter() int { return 1 + rand.IntN(4) }

func bodyError(err error) (code int, reason string) {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge, "the request body is larger than the limit of " +
			strconv.FormatInt(tooLarge.Limit, 10) + " bytes: raise it with --max-body-bytes"
	}
	return http.StatusBadRequest, "the request body could not be read to its end"
}

func hookError(err error) (code int, reason string) {
	if metacontroller.IsRequestError(err) {
		return http.StatusBadRequest, err.Error()
	}
	return http.StatusInternalServerError, err.Error()
}

// mostReason is the length in bytes above which a reason is cut. The message of
// an event has at most 1024.
const mostReason = 900

// writeLine answers with one short line of plain text. Metacontroller publishes
// that of an error in an event on the parent.
func writeLine(w http.ResponseWriter, r *http.Request, code int, text string) {
	text = printable.Line(text, mostReason)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if line, ok := r.Context().Value(lineKey{}).(*line); ok && line.unread {
		w.Header().Set("Connection", "close") // it has not been read to its end
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n")
}
