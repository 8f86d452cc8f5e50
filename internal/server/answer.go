package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/operetta-dev/operetta/metacontroller"
)

// answer returns the handler of one hook. The whole answer is there before the
// first byte of it is sent: half of a 200 would be half of the children.
func (s *Server) answer(controller metacontroller.Controller, hook metacontroller.HookName) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		line := lineOf(r)
		line.kind, line.hook = controller.Name(), hook
		body, err := s.readBody(w, r)
		if err != nil {
			line.err = err
			code, reason := bodyError(err, s.options.MaxBodyBytes)
			if code == http.StatusRequestEntityTooLarge {
				s.discardBody(r)
			}
			refuse(w, code, reason)
			return
		}
		answer, err := controller.Call(hook, s.options.Now(), body)
		line.answer, line.err = answer, err
		switch {
		case metacontroller.IsRequestError(err):
			refuse(w, http.StatusBadRequest, err.Error())
		case err != nil:
			refuse(w, http.StatusInternalServerError, err.Error())
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(answer.Body)))
			w.WriteHeader(http.StatusOK)
			_, _ = w.Write(answer.Body) // a client that is gone is no news
		}
	}
}

// readBody reads the whole body, up to the limit. A body that declares itself
// too large is not read at all.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > s.options.MaxBodyBytes {
		return nil, &http.MaxBytesError{Limit: s.options.MaxBodyBytes}
	}
	body := http.MaxBytesReader(w, r.Body, s.options.MaxBodyBytes)
	// What is declared is believed up to a point: memory is for bytes that come.
	buffer := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), mostPresized)+bytes.MinRead))
	if _, err := buffer.ReadFrom(body); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

// mostPresized is the part of a declared length that is allocated in advance.
const mostPresized = 4 << 20

// discardBody reads on, up to three times the limit, without keeping anything.
// A client that is still sending when the connection closes sees a broken pipe
// and not the answer. One that asked first whether it may send is just told.
func (s *Server) discardBody(r *http.Request) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, 3*s.options.MaxBodyBytes)
	}
}

func bodyError(err error, limit int64) (code int, reason string) {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge,
			"the request body is larger than the limit of " + strconv.FormatInt(limit, 10) + " bytes: raise it with --max-body-bytes"
	}
	return http.StatusBadRequest, "the request body could not be read to its end"
}

// mostReason is the length in bytes from which on a reason is cut. An event's
// message has 1024.
const mostReason = 900

// refuse answers with one short line of plain text. Metacontroller publishes it
// in an event on the parent.
func refuse(w http.ResponseWriter, code int, reason string) {
	reason = strings.Join(strings.Fields(reason), " ")
	if len(reason) > mostReason {
		reason = strings.ToValidUTF8(reason[:mostReason], "") + "..."
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(reason)+1))
	w.WriteHeader(code)
	_, _ = io.WriteString(w, reason+"\n")
}
