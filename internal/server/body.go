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

// How fast a body has to come. Metacontroller sends it from its memory over the
// cluster's network; a sender that is slower holds memory that others wait for.
const (
	openingTime = 3 * time.Second // for the first part
	pieceBytes  = 4 << 20
	pieceTime   = 1500 * time.Millisecond // for each later piece
	// A refusal reads on what it has left of a body: each part for so long, all
	// until so long after the request began.
	discardTime   = 2 * time.Second
	discardBytes  = 256 << 10
	discardUntil  = 12 * time.Second
	mostDiscarded = 256 << 20
	// wireFactor is how many times as many bytes a body may have as are kept of
	// it. Most of a Pod is what no hook reads, and is left out while it comes.
	wireFactor = 4
	// compactBytes is what that costs.
	compactBytes = 2 << 20
)

// read reads the first part of a body, then takes what the whole will need, and
// reads the rest, of which it keeps what the hooks of the controller read.
func (j *job) read(w http.ResponseWriter, r *http.Request, controller metacontroller.Controller) ([]byte, error) {
	limit := j.server.options.MaxBodyBytes
	declared := r.ContentLength
	if declared > wireFactor*limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	line := lineOf(r)
	line.began = true // a client that asks first has been told to send it
	paced := &pacedReader{
		control: http.NewResponseController(w), left: openingBytes, waiting: j.waiting,
		body:    http.MaxBytesReader(w, r.Body, wireFactor*limit),
		opening: &opening{of: j.server.budget.opening, address: j.client.address, leave: j.cancel},
	}
	paced.allow(openingTime)
	// Who has to give back its opening may be reading, and hears of that as of a
	// time that has passed.
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
		err = &http.MaxBytesError{Limit: limit} // whichever of the two it was
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
	// From now on the connection is watched for a client that hangs up, which a
	// deadline would look like.
	_ = paced.control.SetReadDeadline(time.Time{})
	return body, nil
}

// readOpening reads the first part, and reports whether that was all. What it
// holds grows with what has come, and is at most twice as much.
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
		declared = math.MaxInt64 // in chunks: nobody knows
	}
	opening.isIdle.Store(true)
	return body, false, j.takeBody(min(declared, j.server.options.MaxBodyBytes), false)
}

// readRest reads all of a body for which the memory has been taken, and gives
// back what was too much.
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
// before.
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

// atEnd reports whether there is no byte more. Only when its end has been read
// does net/http watch the connection.
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

// pacedReader reads a body whose parts have to come in time, and while the job
// may still wait: what comes later has no answer anyway. Only waiting for the
// sender counts, not the time in which the server is busy with what has come.
type pacedReader struct {
	control *http.ResponseController
	waiting context.Context
	body    io.Reader
	opening *opening
	left    int64         // bytes of the part that has begun
	time    time.Duration // that is left for them
}

// allow gives the next part its time.
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
	if p.isCrowded() { // its deadline may have come before this one
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

// discardRest reads on what a refusal has left of a body, once the refusal has
// been sent: a client that is still sending when its connection closes sees a
// broken pipe and not the answer. Only one that asks before it sends is told at
// once. One that sends slowly, or has no time left of that in which Metacontroller
// waits for an answer, is not waited for any longer.
func discardRest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		began := time.Now()
		control := http.NewResponseController(w)
		_ = control.EnableFullDuplex() // or net/http would read on before it sends
		line := lineOf(r)
		line.unread = true
		next.ServeHTTP(w, r)
		if !line.unread {
			return
		}
		_ = control.Flush()
		if r.Header.Get("Expect") != "" && !line.began {
			return
		}
		patience := discardTime
		if !errors.Is(line.err, errSlow) && !errors.Is(line.err, errStranger) {
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
