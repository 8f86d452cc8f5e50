package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// How fast a body has to come. Metacontroller sends it from its memory over the
// cluster's network; a sender that is slower holds memory that others wait for.
const (
	openingTime = 3 * time.Second // for the first part
	pieceBytes  = 4 << 20
	pieceTime   = 1500 * time.Millisecond // for each later piece
	// discardTime is for what a refusal has left of a body.
	discardTime  = 2 * time.Second
	mostDiscards = 256 << 20
)

// bodyReader reads the body of one request.
type bodyReader struct {
	control *http.ResponseController
	body    io.ReadCloser
	ctx     context.Context //nolint:containedctx // a reader is one request, and ends with it
	opening held
	bytes   []byte
}

// read reads the first part of a body, then takes what the whole will need,
// and reads the rest.
func (j *job) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limit := j.server.options.MaxBodyBytes
	declared := r.ContentLength
	if declared > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	reader := &bodyReader{
		control: http.NewResponseController(w), body: http.MaxBytesReader(w, r.Body, limit), ctx: j.waiting,
		opening: held{share: j.server.budget.opening},
	}
	defer reader.opening.give(0)
	line := lineOf(r)
	line.began = true // a client that asks first has been told to send it
	if err := j.readAll(reader, declared, limit); err != nil {
		return nil, err
	}
	line.unread = false
	// From now on the connection is watched for a client that hangs up, which a
	// deadline would look like.
	_ = reader.control.SetReadDeadline(time.Time{})
	return reader.bytes, nil
}

func (j *job) readAll(reader *bodyReader, declared, limit int64) error {
	whole, err := reader.readOpening(declared)
	if err != nil {
		return err
	}
	length := declared
	switch {
	case whole:
		length = int64(len(reader.bytes))
	case declared < 0:
		length = limit // in chunks: nobody knows
	}
	if err := j.takeBody(length); err != nil {
		return err
	}
	reader.opening.give(0)
	if whole {
		return nil
	}
	return reader.readRest(declared, limit)
}

// readOpening reads the first part, and reports whether that was all. The
// buffer grows with what comes.
func (b *bodyReader) readOpening(declared int64) (whole bool, err error) {
	_ = b.control.SetReadDeadline(time.Now().Add(openingTime))
	wanted := int64(openingBytes)
	if declared >= 0 {
		wanted = min(wanted, declared)
	}
	for size := int64(4 << 10); ; size *= 4 {
		size = min(size, wanted)
		if err := b.opening.take(b.ctx, size); err != nil {
			return false, err
		}
		if ended, err := b.fill(size); ended || err != nil {
			return ended, err
		}
		if size == declared {
			return true, b.expectEnd()
		}
		if size == wanted {
			return false, nil
		}
	}
}

// readRest reads what comes after the first part, in pieces that have to come
// in time.
func (b *bodyReader) readRest(declared, limit int64) error {
	if declared >= 0 {
		b.bytes = append(make([]byte, 0, declared), b.bytes...)
	}
	for {
		next := int64(len(b.bytes)) + pieceBytes
		if declared >= 0 {
			next = min(next, declared)
		}
		_ = b.control.SetReadDeadline(time.Now().Add(pieceTime))
		if ended, err := b.fill(min(next, limit+1)); ended || err != nil {
			return err
		}
		if next == declared {
			return b.expectEnd()
		}
		if b.ctx.Err() != nil {
			return busyOrGone(b.ctx)
		}
	}
}

// fill reads until there are so many bytes, and reports whether the body ended
// with them or before.
func (b *bodyReader) fill(size int64) (ended bool, err error) {
	if have := int64(len(b.bytes)); size > int64(cap(b.bytes)) {
		grown := max(size, min(4*have, size+8*pieceBytes))
		b.bytes = append(make([]byte, 0, grown), b.bytes...)
	}
	for int64(len(b.bytes)) < size {
		have := len(b.bytes)
		n, err := b.body.Read(b.bytes[have:size])
		b.bytes = b.bytes[:have+n]
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return false, errSlow
		case err != nil:
			return false, err
		}
	}
	return false, nil
}

// expectEnd reads the end of a body whose bytes are all there. Only then does
// net/http watch the connection.
func (b *bodyReader) expectEnd() error {
	if n, err := b.body.Read(make([]byte, 1)); n != 0 || err != nil && !errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// discardRest reads on what a refusal has left of a body, once the refusal has
// been sent: a client that is still sending when its connection closes sees a
// broken pipe and not the answer. Only one that asks before it sends is told at
// once, and one that sends slowly is not waited for.
func discardRest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		control := http.NewResponseController(w)
		_ = control.EnableFullDuplex() // or net/http would read on before it sends
		line := lineOf(r)
		line.unread = true
		next.ServeHTTP(w, r)
		if !line.unread {
			return
		}
		_ = control.Flush()
		if errors.Is(line.err, errSlow) || r.Header.Get("Expect") != "" && !line.began {
			return
		}
		for range mostDiscards / pieceBytes {
			_ = control.SetReadDeadline(time.Now().Add(discardTime))
			if _, err := io.CopyN(io.Discard, r.Body, pieceBytes); err != nil {
				return
			}
		}
	})
}
