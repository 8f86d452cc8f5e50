package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// gate counts the requests in flight. Once it is shut, no more are admitted.
type gate struct {
	mu       sync.Mutex
	inFlight int
	empty    chan struct{} // made when the gate is shut, closed when all have left
}

// enter reports whether the gate is open. One who has entered has to leave.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.empty != nil {
		return false
	}
	g.inFlight++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	g.closeIfEmpty()
}

// shut closes the gate, once. The channel is closed when all requests have
// ended.
func (g *gate) shut() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.empty = make(chan struct{})
	g.closeIfEmpty()
	return g.empty
}

func (g *gate) closeIfEmpty() {
	if g.empty != nil && g.inFlight == 0 {
		close(g.empty)
	}
}

// drainingText is the body of the 503.
const drainingText = "draining: another replica will answer"

// admit refuses requests while the gate is shut. While the server drains it
// answers them and closes their connections, so that clients connect to another
// replica.
func (s *Server) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		if !s.gate.enter() {
			writeLine(w, r, http.StatusServiceUnavailable, drainingText)
			return
		}
		defer s.gate.leave()
		next.ServeHTTP(w, r)
	})
}

// drain ends the hook server without losing a request. The listener stays open
// until the last request in flight has been answered, so that late requests get
// 503; then connections are closed.
func (s *Server) drain(hookServer *http.Server, listener net.Listener) error {
	s.options.Log.Info("draining", "delay", s.options.DrainDelay.String())
	s.draining.Store(true)
	time.Sleep(s.options.DrainDelay)
	ctx, cancel := context.WithTimeout(context.Background(), s.options.ShutdownTimeout)
	defer cancel()
	select {
	case <-s.gate.shut():
	case <-ctx.Done():
	}
	s.part(ctx, listener)
	defer s.flush(ctx)
	if err := hookServer.Shutdown(ctx); err != nil {
		return fmt.Errorf("requests were still in flight after %s: %w", s.options.ShutdownTimeout, errors.Join(err, hookServer.Close()))
	}
	s.options.Log.Info("drained")
	return nil
}
