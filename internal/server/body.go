package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"time"

	"github.com/operetta-dev/operetta/internal/compact"
	"github.com/operetta-dev/operetta/metacontroller"
)

// How fast a body has to arrive. Metacontroller sends it from memory over the
// cluster's network; a slower sender holds memory that other requests need.
const (
	openingTime = 3 * time.Second // for the first part
	pieceBytes  = 4 << 20
	pieceTime   = 1500 * time.Millisecond // for each later piece
	// After a refusal the rest of the body is discarded: each part and the
	// total have a time limit.
	discardTime   = 2 * time.Second
	discardBytes  = 256 << 10
	discardUntil  = 12 * time.Second
	mostDiscarded = 256 << 20
	// unaskedTime is for the body of a client that asked whether to send it, and did not
	// wait for the refusal.
	unaskedTime = 500 * time.Millisecond
	// wireFactor is how much larger a body may be than the part of it that is
	// kept. Most of a Pod is read by no hook, and is dropped while it arrives.
	wireFactor = 4
	// compactBytes is the memory for that.
	compactBytes = 2 << 20
)

// read reads the first part of a body, reserves memory for the whole, and reads
// the rest, of which it keeps what the hooks of the controller read.
func (j *job) read(w http.ResponseWriter, r *http.Request, controller metacontroller.Controller) ([]byte, error) {
	limit := j.server.options.MaxBodyBytes
	declared := r.ContentLength
	if declared > wireFactor*limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	line := lineOf(r)
	line.began = true // net/http has sent 100 Continue to a client that expects it
	paced := &pacedReader{
		control: http.NewResponseController(w), left: openingBytes, waiting: j.waiting,
		body:    http.MaxBytesReader(w, r.Body, wireFactor*limit),
		opening: &opening{of: j.server.budget.opening, address: j.client.address, leave: j.cancel},
	}
	paced.allow(openingTime)
	// A request that has to give back its opening may be blocked in a read: a
	// deadline in the past ends it.
	defer context.AfterFunc(j.waiting, func() {
		if errors.Is(context.Cause(j.waiting), errCrowded) {
			_ = paced.control.SetReadDeadline(time.Unix(1, 0))
		}
	})()
	body, whole, err := j.readOpening(paced, declared)
	if err == nil && !whole {
		if j.isLarge {
			expectLarge(w, r)
		}
		rest := io.MultiReader(bytes.NewReader(body), paced)
		body, err = j.readRest(compact.NewReader(rest, controller), declared, limit)
	}
	if _, isTooLarge := errors.AsType[*http.MaxBytesError](err); isTooLarge || int64(len(body)) > limit {
		err = &http.MaxBytesError{Limit: limit} // whichever limit it was
	}
	if err != nil {
		return nil, err
	}
	line.unread = false
	if !whole {
		j.client.namespace = compact.Namespace(body)
	}
	if j.isLarge && cap(body) <= smallBody {
		if err := j.shrink(int64(cap(body))); err != nil {
			return nil, err
		}
	}
	// From now on net/http watches for a closed connection, which a deadline
	// would look like.
	_ = paced.control.SetReadDeadline(time.Time{})
	return body, nil
}

// readOpening reads the first part, and reports whether that was the whole
// body. The buffer is at most twice as large as what has arrived.
func (j *job) readOpening(source *pacedReader, declared int64) (body []byte, whole bool, err error) {
	opening := source.opening
	defer opening.give(0)
	most := int64(openingBytes)
	if declared >= 0 {
		most = min(most, declared)
	}
	for size := int64(leastOpening); ; size *= 2 {
		size = min(size, most)
		if err := opening.take(j.waiting, size); err != nil {
			return nil, false, err
		}
		body = append(make([]byte, 0, size), body...)
		opening.give(size) // the smaller buffer
		if whole, err = fill(source, &body); err != nil {
			return nil, false, err
		}
		if !whole && size == declared {
			whole, err = atEnd(source)
		}
		if whole || err != nil || size == most {
			break
		}
	}
	j.client.namespace = compact.Namespace(body)
	switch {
	case err != nil:
		return nil, false, err
	case whole:
		tiny := isTiny(body)
		if tiny {
			opening.keep()
		}
		opening.isIdle.Store(!tiny)
		return body, true, j.takeBody(int64(len(body)), tiny)
	case declared < 0:
		declared = math.MaxInt64 // chunked: the length is unknown
	}
	opening.isIdle.Store(true)
	return body, false, j.takeBody(min(declared, j.server.options.MaxBodyBytes), false)
}

// readRest reads a body for which the memory is reserved, and gives back the
// excess.
func (j *job) readRest(source io.Reader, declared, limit int64) ([]byte, error) {
	most := limit
	if declared >= 0 {
		most = min(most, declared)
	}
	var body []byte
	for size := int64(openingBytes); ; size *= 4 {
		size = min(size, most)
		body = append(make([]byte, 0, size), body...)
		whole, err := fill(source, &body)
		if err == nil && !whole && size == most {
			if whole, err = atEnd(source); !whole && err == nil {
				err = &http.MaxBytesError{Limit: limit}
			}
		}
		if err != nil {
			return nil, err
		}
		if whole {
			break
		}
	}
	if cap(body) > 2*len(body) {
		body = bytes.Clone(body)
	}
	if j.isLarge {
		j.body.give(int64(cap(body)))
	}
	return body, nil
}

// fill reads until a buffer is full, and reports whether the source ended
// first.
func fill(source io.Reader, buffer *[]byte) (ended bool, err error) {
	for b := *buffer; len(b) < cap(b); *buffer = b {
		n, err := source.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err != nil {
			*buffer = b
			if errors.Is(err, io.EOF) {
				return true, nil
			}
			return false, err
		}
	}
	return false, nil
}

// atEnd reports whether the source has ended. net/http watches the connection
// only after the end of the body has been read.
func atEnd(source io.Reader) (bool, error) {
	switch n, err := source.Read(make([]byte, 1)); {
	case n > 0:
		return false, nil
	case errors.Is(err, io.EOF):
		return true, nil
	default:
		return false, err
	}
}

// pacedReader reads a body whose parts have time limits, while the job may
// still wait. Only the time spent waiting for the sender counts, not the time
// in which the server is busy.
type pacedReader struct {
	control *http.ResponseController
	waiting context.Context
	body    io.Reader
	opening *opening
	left    int64         // bytes of the part that has begun
	time    time.Duration // that is left for them
}

// allow sets the time limit of the next part.
func (p *pacedReader) allow(part time.Duration) { p.time = part }

// Read implements [io.Reader].
func (p *pacedReader) Read(into []byte) (int, error) {
	if p.left <= 0 {
		p.left = pieceBytes
		p.allow(pieceTime)
	}
	began := time.Now()
	end := began.Add(p.time)
	last, _ := p.waiting.Deadline()
	isLast := last.Before(end)
	if isLast {
		end = last
	}
	_ = p.control.SetReadDeadline(end)
	if p.isCrowded() { // its deadline may have been set before this one
		return 0, errSlow
	}
	p.opening.isIdle.Store(true)
	n, err := p.body.Read(into)
	p.opening.isIdle.Store(false)
	p.left -= int64(n)
	p.time -= time.Since(began)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if err = errSlow; isLast && !p.isCrowded() {
			err = errBusy
		}
	}
	return n, err
}

func (p *pacedReader) isCrowded() bool { return errors.Is(context.Cause(p.waiting), errCrowded) }

// discardRest reads the rest of a body after a refusal: a client that is still
// sending when its connection closes sees a broken pipe instead of the answer.
// A client that sent Expect: 100-continue gets the refusal instead of being asked
// for its body, which some send all the same. A slow client, or one whose request
// has reached Metacontroller's timeout, is not waited for.
func discardRest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		began := time.Now()
		control := http.NewResponseController(w)
		_ = control.EnableFullDuplex() // otherwise net/http reads the body before it responds
		line := lineOf(r)
		line.unread = true
		next.ServeHTTP(w, r)
		if !line.unread {
			return
		}
		_ = control.Flush()
		patience := discardTime
		if r.Header.Get("Expect") != "" && !line.began {
			patience = unaskedTime // net/http asks for no body when it has sent an answer
		} else if !errors.Is(line.err, errSlow) && !errors.Is(line.err, errUnauthenticated) {
			patience = max(patience, time.Until(began.Add(discardUntil)))
		}
		last := time.Now().Add(patience)
		for left := int64(mostDiscarded); left > 0; left -= discardBytes {
			end := time.Now().Add(discardTime)
			if end.After(last) {
				end = last
			}
			_ = control.SetReadDeadline(end)
			if _, err := io.CopyN(io.Discard, r.Body, discardBytes); err != nil {
				return
			}
		}
	})
}
