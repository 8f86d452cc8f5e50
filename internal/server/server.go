// Package server is the HTTP edge: routes, limits, errors, logs, health and
// drain. It knows no kind; the operators are passed to it.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"github.com/operetta-dev/operetta/internal/metrics"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Defaults of [Options].
const (
	// DefaultMaxBodyBytes is 64 MiB. A request carries every child whole, at 5
	// to 10 KB each.
	DefaultMaxBodyBytes = 64 << 20
	// DefaultAnswerTimeout is the time from a request's headers to its answer.
	// Metacontroller's timeout is 10 s.
	DefaultAnswerTimeout = 8 * time.Second
	// DefaultDrainDelay is the time from a failing readiness probe to the
	// refusal of new requests, in which the cluster takes the Pod out of its
	// Service.
	DefaultDrainDelay = 5 * time.Second
	// DefaultShutdownTimeout is the longest that requests in flight may take
	// after that.
	DefaultShutdownTimeout = 15 * time.Second
)

// Limits of connections. Nobody reads an answer after Metacontroller's timeout of 10 s. It
// keeps idle connections for 90 s: if the server closed them first, a request could be
// lost, and a POST is not retried.
const (
	readHeaderTimeout = 2 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 12 * time.Second
	idleTimeout       = 120 * time.Second
	maxHeaderBytes    = 4 << 10
	maxConnections    = 1024
)

// Options are what a Server needs.
type Options struct {
	// Controllers are the operators to serve.
	Controllers []metacontroller.Controller
	// Now is the clock of the hooks.
	Now func() time.Time
	// Log takes one line for each request: at debug if the answer changes nothing.
	Log *slog.Logger
	// Version is that of the program, for the metrics.
	Version string
	// Pprof serves profiles of this process on the metrics port.
	Pprof bool
	// MaxBodyBytes is the size of the largest request body, at most half of MemoryBudget.
	MaxBodyBytes int64
	// MaxAnswerBytes is the size of the largest answer; 0 means
	// [metacontroller.DefaultMaxAnswerBytes].
	MaxAnswerBytes int64
	// MaxInFlight is the number of hooks that run at once; 0 means [DefaultMaxInFlight].
	// The others wait, and get 429 after too long.
	MaxInFlight int
	// MemoryBudget is the memory of all requests together, in bytes; 0 means
	// [DefaultMemoryBudget].
	MemoryBudget int64
	// AnswerTimeout is the longest that a request takes; 0 means [DefaultAnswerTimeout].
	AnswerTimeout time.Duration
	// Record, if set, is called with each request that was answered with 200. It must not
	// block, and copies what it keeps of the request.
	Record func(controller metacontroller.Controller, hook metacontroller.HookName, now time.Time, request, answer []byte)
	// Credentials say how hooks are served and who may call them; nil is plain HTTP
	// for everybody.
	Credentials *Credentials
	// DrainDelay and ShutdownTimeout are the two parts of a drain.
	DrainDelay, ShutdownTimeout time.Duration
}

// Server serves the hooks on one listener, and health checks and metrics on another.
type Server struct {
	options     Options
	limits      *limits
	metrics     *metrics.Metrics
	noRoute     *metrics.Route
	running     sync.Map // has an *exchange for each hook that runs
	inFlight    atomic.Int64
	connections atomic.Int64 // of the hook port
	draining    atomic.Bool  // readiness fails, requests are still answered
	refusing    atomic.Bool  // new requests are refused
}

// New returns a Server.
func New(options Options) *Server {
	options.AnswerTimeout = cmp.Or(options.AnswerTimeout, DefaultAnswerTimeout)
	options.MaxInFlight = cmp.Or(options.MaxInFlight, DefaultMaxInFlight())
	options.MemoryBudget = cmp.Or(options.MemoryBudget, DefaultMemoryBudget())
	s := &Server{options: options, limits: newLimits(options.MemoryBudget, options.MaxBodyBytes, options.MaxInFlight)}
	s.metrics = metrics.New(metrics.Options{Controllers: options.Controllers, Version: options.Version, Log: options.Log, Load: metrics.Load{
		Requests: s.inFlight.Load, Connections: s.connections.Load, MaxConnections: maxConnections,
		Memory: []metrics.Share{s.limits.small.load("small"), s.limits.large.load("large")},
		Slots:  []metrics.Share{s.limits.sync.load("sync"), s.limits.customize.load("customize")},
	}})
	s.noRoute = s.metrics.Route("", "")
	return s
}

// Run serves hooks and health until ctx ends, and then drains: readiness fails
// at once, new requests are refused after the drain delay, and those in flight
// finish. It closes both listeners, which are plain TCP listeners: hooks are served
// over TLS if the options have a certificate. The error is nil after a complete drain.
func (s *Server) Run(ctx context.Context, hooks, health net.Listener) error {
	hookServer, healthServer := s.httpServer(s.Hooks()), s.httpServer(s.Health())
	hookServer.ConnState = s.countConnections
	failed := make(chan error, 2)
	serve := func(server *http.Server, listener net.Listener) {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serving on %s: %w", listener.Addr(), err)
		}
	}
	go serve(hookServer, s.options.Credentials.listener(netutil.LimitListener(hooks, maxConnections)))
	go serve(healthServer, netutil.LimitListener(health, maxConnections/8))
	s.options.Log.Info("serving", "hooks", hooks.Addr().String(), "health", health.Addr().String(), "tls", s.options.Credentials.hasTLS(),
		"memoryBudget", s.options.MemoryBudget, "maxBodyBytes", s.limits.maxBody, "maxInFlight", s.options.MaxInFlight)
	select {
	case err := <-failed:
		return errors.Join(err, hookServer.Close(), healthServer.Close())
	case <-ctx.Done():
	}
	return errors.Join(s.drain(hookServer), healthServer.Close())
}

func (s *Server) httpServer(handler http.Handler) *http.Server {
	http1 := &http.Protocols{} // deadlines and the number of connections bound one request each
	http1.SetHTTP1(true)
	return &http.Server{
		Handler:                      handler,
		ReadHeaderTimeout:            readHeaderTimeout,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeaderBytes,
		Protocols:                    http1,
		DisableGeneralOptionsHandler: true, // it would answer without credentials
		ErrorLog:                     slog.NewLogLogger(s.options.Log.Handler(), slog.LevelWarn),
	}
}

func (s *Server) countConnections(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.connections.Add(1)
	case http.StateClosed:
		s.connections.Add(-1)
	default: // it stays open
	}
}

// drain ends the hook server without losing a request: late requests get 503 until the last
// one in flight has been answered, and then connections are closed.
func (s *Server) drain(hookServer *http.Server) error {
	s.options.Log.Info("draining", "delay", s.options.DrainDelay.String())
	s.draining.Store(true)
	time.Sleep(s.options.DrainDelay)
	ctx, cancel := context.WithTimeout(context.Background(), s.options.ShutdownTimeout)
	defer cancel()
	s.refusing.Store(true)
	for s.inFlight.Load() > 0 && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	if err := hookServer.Shutdown(ctx); err != nil {
		return fmt.Errorf("requests were still in flight after %s: %w", s.options.ShutdownTimeout, errors.Join(err, hookServer.Close()))
	}
	s.options.Log.Info("drained")
	return nil
}
