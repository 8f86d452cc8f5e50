package server

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/operetta-dev/operetta/internal/printable"
)

// errorLog takes what net/http logs of connections. Anybody who can open one writes that:
// of a handshake with a certificate of 13 KB it can be 130 KB. So a line is cut, few are
// logged in a second, the others are counted, and nobody waits for the log: the goroutine of
// a connection would keep what it has read meanwhile.
type errorLog struct {
	log     *slog.Logger
	lines   chan string
	dropped atomic.Int64 // since the last line
}

const (
	// mostErrorLines is how many lines wait to be logged.
	mostErrorLines = 20
	// errorLineEvery is the least time between two lines.
	errorLineEvery = 100 * time.Millisecond
)

func newErrorLog(log *slog.Logger) *errorLog {
	return &errorLog{log: log, lines: make(chan string, mostErrorLines)}
}

// Write implements [io.Writer]. It gets one line, and never waits nor fails.
func (e *errorLog) Write(text []byte) (int, error) {
	const more = mostReason + 1 // or it is not cut
	select {
	case e.lines <- printable.Line(string(text[:min(len(text), more)]), mostReason):
	default:
		e.dropped.Add(1)
	}
	return len(text), nil
}

// follow logs lines until ctx ends, and then those that wait.
func (e *errorLog) follow(ctx context.Context) {
	every := time.NewTicker(errorLineEvery)
	defer every.Stop()
	for {
		select {
		case line := <-e.lines:
			e.tell(line)
		case <-ctx.Done():
			for range len(e.lines) {
				e.tell(<-e.lines)
			}
			return
		}
		select {
		case <-every.C:
		case <-ctx.Done():
		}
	}
}

func (e *errorLog) tell(line string) {
	if dropped := e.dropped.Swap(0); dropped > 0 {
		e.log.Warn(line, "notLogged", dropped)
		return
	}
	e.log.Warn(line)
}
