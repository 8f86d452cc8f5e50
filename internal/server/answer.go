package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/operetta-dev/operetta/internal/compact"
	"github.com/operetta-dev/operetta/metacontroller"
)

// answer returns the handler of one hook. The whole answer is there before the
// first byte of it is sent: half of a 200 would be half of the children.
func (s *Server) answer(controller metacontroller.Controller, hook metacontroller.HookName) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		line := lineOf(r)
		body, err := readBody(w, r, controller, s.options.MaxBodyBytes)
		if err != nil {
			line.err = err
			code, reason := bodyError(err)
			writeLine(w, code, reason)
			return
		}
		now := s.options.Now()
		answer, err := controller.Call(hook, now, body)
		line.answer, line.err = answer, err
		switch {
		case metacontroller.IsRequestError(err):
			writeLine(w, http.StatusBadRequest, err.Error())
		case err != nil:
			writeLine(w, http.StatusInternalServerError, err.Error())
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(answer.Body)))
			w.WriteHeader(http.StatusOK)
			_, _ = w.Write(answer.Body) // a client that is gone is no news
			if s.options.Record != nil {
				s.options.Record(controller, hook, now, body, answer.Body)
			}
		}
	}
}

const (
	// mostPresized is the part of a declared length that is allocated in
	// advance. Beyond it, memory is for bytes that come.
	mostPresized = 4 << 20
	// mostDiscarded is how much is read of a body that nobody wants.
	mostDiscarded = 256 << 20
)

// wireFactor is how many times as many bytes a body may have as are kept of it.
// Most of a Pod is what no hook reads, and is left out while it comes.
const wireFactor = 4

// readBody reads what hooks read of the body, up to the limit in bytes.
func readBody(w http.ResponseWriter, r *http.Request, controller metacontroller.Controller, limit int64) ([]byte, error) {
	if r.ContentLength > wireFactor*limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	body := compact.NewReader(http.MaxBytesReader(w, r.Body, wireFactor*limit), controller)
	buffer := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), mostPresized)+bytes.MinRead))
	_, err := buffer.ReadFrom(http.MaxBytesReader(w, io.NopCloser(body), limit))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		discardBody(r)
		return nil, &http.MaxBytesError{Limit: limit} // whichever of the two it was
	}
	if err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

// discardRest reads on what a refusal has left of a body: a client that is
// still sending when its connection closes sees a broken pipe and not the
// answer. Only one that asks before it sends is told at once.
func discardRest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if r.Header.Get("Expect") == "" {
			discardBody(r)
		}
	})
}

func discardBody(r *http.Request) { _, _ = io.CopyN(io.Discard, r.Body, mostDiscarded) }

func bodyError(err error) (code int, reason string) {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge, "the request body is larger than the limit of " +
			strconv.FormatInt(tooLarge.Limit, 10) + " bytes: raise it with --max-body-bytes"
	}
	return http.StatusBadRequest, "the request body could not be read to its end"
}

// mostReason is the length in bytes from which on a reason is cut. An event's
// message has 1024.
const mostReason = 900

// writeLine answers with one short line of plain text. Metacontroller publishes
// that of an error in an event on the parent.
func writeLine(w http.ResponseWriter, code int, text string) {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > mostReason {
		text = strings.ToValidUTF8(text[:mostReason], "") + "..."
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n")
}
