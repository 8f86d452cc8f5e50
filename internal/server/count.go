package server

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/operetta-dev/operetta/internal/metrics"
	"github.com/operetta-dev/operetta/metacontroller"
)

// bodyCounter counts what is read of a body, and tells a connection with TLS that its data comes.
type bodyCounter struct {
	io.ReadCloser

	conn  *limitedConn // nil without TLS
	bytes int64
}

// Read implements [io.Reader].
func (c *bodyCounter) Read(into []byte) (int, error) {
	if c.conn != nil {
		into = into[:min(len(into), maxPiece)]
	}
	n, err := c.ReadCloser.Read(into)
	c.bytes += int64(n)
	if c.conn != nil && n > 0 {
		c.conn.progress()
	}
	return n, err
}

// count counts a request that has been answered.
func (s *Server) count(l *line, status int, took time.Duration, sent int64) {
	s.metrics.Count(metrics.Request{
		Kind: l.kind, Hook: l.hook, Code: status, Duration: took, Received: l.received.bytes, Sent: sent,
		Refused: l.refused(status), Panicked: l.stack != "", Answer: &l.answer,
	})
}

// refused returns the reason why a request was refused, or nothing.
func (l *line) refused(status int) string {
	switch status {
	case http.StatusTooManyRequests:
		if errors.Is(l.err, errSlow) {
			return metrics.SlowBody
		}
		return metrics.Busy
	case http.StatusBadRequest:
		return metrics.BadRequest
	case http.StatusUnauthorized:
		return metrics.Unauthorized
	case http.StatusForbidden:
		return metrics.Forbidden
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return metrics.NoSuchHook
	case http.StatusRequestEntityTooLarge:
		return metrics.TooLarge
	case http.StatusServiceUnavailable:
		if errors.Is(l.err, errGone) {
			return metrics.ClientGone
		}
		return metrics.Draining
	case http.StatusInternalServerError:
		switch {
		case errors.Is(l.err, errLate):
			return metrics.Late
		case errors.Is(l.err, metacontroller.ErrTooMuch):
			return metrics.TooMuch
		}
	}
	return ""
}

// load says how busy the server is.
func (s *Server) load() metrics.Load {
	s.conns.mu.Lock()
	connections := len(s.conns.states)
	s.conns.mu.Unlock()
	s.gate.mu.Lock()
	inFlight := s.gate.inFlight
	s.gate.mu.Unlock()
	b, slots := s.budget, s.slots
	return metrics.Load{
		Requests: inFlight, Connections: connections, MostConnections: s.conns.most,
		Memory: []metrics.Share{
			b.opening.load("opening"), b.tiny.load("tiny"), b.customize.load("customize"),
			b.small.load("small"), b.large.load("large"), b.work.load("work"), b.spare.load("spare"),
		},
		Slots: []metrics.Share{
			slots.all.load("all"), slots.tiny.load("tiny"), slots.notTiny.load("not_tiny"),
			slots.large.load("large"), slots.customize.load("customize"),
		},
	}
}

// load says how much of it is used, under the name of a part.
func (f *fair) load(part string) metrics.Share {
	f.mu.Lock()
	defer f.mu.Unlock()
	share := metrics.Share{Part: part, Size: f.size, Used: f.used}
	for _, queue := range f.waiting {
		for _, waiting := range queue.waiting {
			share.Waiting += len(waiting)
		}
	}
	return share
}

// load is that of the openings.
func (a *openings) load(part string) metrics.Share {
	a.mu.Lock()
	defer a.mu.Unlock()
	return metrics.Share{Part: part, Size: a.size, Used: a.size - a.free, Waiting: len(a.waiting)}
}
