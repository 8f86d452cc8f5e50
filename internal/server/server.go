// Package server is the HTTP edge: routes, limits, errors, logs, health and
// drain. It knows no kind; the operators are passed to it.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/operetta-dev/operetta/internal/metrics"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Defaults of [Options].
const (
	// DefaultMaxBodyBytes is 64 MiB. A request carries every child whole, at 5
	// to 10 KB each.
	DefaultMaxBodyBytes = 64 << 20
	// MostInFlight is the largest number of hooks that run at once.
	MostInFlight = 1024
	// DefaultAnswerTimeout is the time from a request's headers to its answer.
	// Metacontroller's timeout is 10 s.
	DefaultAnswerTimeout = 8 * time.Second
	// waitPart is the part of that for waiting, in tenths. The rest is for the
	// hook.
	waitPart = 6
	// DefaultDrainDelay is the time from a failing readiness probe to the
	// refusal of new requests, in which the cluster takes the Pod out of its
	// Service.
	DefaultDrainDelay = 5 * time.Second
	// DefaultShutdownTimeout is the longest that requests in flight may take
	// after that. Metacontroller's timeout is 10 s.
	DefaultShutdownTimeout = 15 * time.Second
)

// Timeouts of a connection. Metacontroller's timeout is 10 s, so a much slower
// request has nobody left to answer. It keeps idle connections for 90 s: if the
// server closed them first, a request could be lost, and a POST is not retried.
const (
	readHeaderTimeout = 2 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 20 * time.Second
	idleTimeout       = 120 * time.Second
	// maxHeaderBytes limits headers, besides the 4 KiB that net/http adds.
	// Metacontroller sends some 300 bytes. They are not in the memory budget,
	// and many short ones take 14 times as much while they are parsed.
	maxHeaderBytes = 1 << 10
)

// Options are what a Server needs.
type Options struct {
	// Controllers are the operators to serve.
	Controllers []metacontroller.Controller
	// Now is the clock of the hooks.
	Now func() time.Time
	// Log takes one line for each request: at debug where it was answered and changes
	// nothing.
	Log *slog.Logger
	// Version is that of the program, for the metrics.
	Version string
	// Pprof serves profiles of this process on the metrics port.
	Pprof bool
	// MaxBodyBytes limits the compacted body, without what no hook reads. On
	// the wire it may be four times as long.
	MaxBodyBytes int64
	// MaxAnswerBytes is the size of the largest answer; 0 stands for
	// [metacontroller.DefaultMaxAnswerBytes].
	MaxAnswerBytes int64
	// MaxInFlight is the number of hooks that run at once. The others wait, and
	// get 429 after too long. 0 stands for [DefaultMaxInFlight].
	MaxInFlight int
	// MemoryBudget is the memory of all requests together, in bytes; 0 stands
	// for [DefaultMemoryBudget]. No body is larger than [LargestBody] of it.
	MemoryBudget int64
	// AnswerTimeout is the longest that a request takes; 0 stands for
	// [DefaultAnswerTimeout].
	AnswerTimeout time.Duration
	// Record, if set, is called with each request that was answered with 200,
	// and must not block.
	Record func(controller metacontroller.Controller, hook metacontroller.HookName, now time.Time, request, answer []byte)
	// Credentials say how hooks are served and who may call them; nil is plain HTTP
	// for everybody.
	Credentials *Credentials
	// Tracer, if set, makes a span of each request and of its parts. Flush, if set, is
	// called at the end of a drain to have them sent.
	Tracer trace.Tracer
	Flush  func(context.Context)
	// DrainDelay and ShutdownTimeout are the two parts of a drain.
	DrainDelay, ShutdownTimeout time.Duration
}

// Server serves the hooks on one listener, and health checks and metrics on another.
type Server struct {
	options  Options
	serving  atomic.Bool // the hook listener takes connections
	draining atomic.Bool // readiness fails, requests are still answered
	gate     gate        // shut when new requests are refused
	budget   *budget
	slots    slots
	calls    calls
	conns    connections // of the hook port
	metrics  *metrics.Metrics
}

// New returns a Server.
func New(options Options) *Server {
	options.MaxInFlight = cmp.Or(options.MaxInFlight, DefaultMaxInFlight())
	options.MemoryBudget = cmp.Or(options.MemoryBudget, DefaultMemoryBudget)
	options.AnswerTimeout = cmp.Or(options.AnswerTimeout, DefaultAnswerTimeout)
	options.MaxBodyBytes = min(options.MaxBodyBytes, LargestBody(options.MemoryBudget))
	s := &Server{
		options: options, budget: newBudget(options.MemoryBudget), slots: newSlots(options.MaxInFlight),
		conns: connections{most: maxConnections},
	}
	s.metrics = metrics.New(metrics.Options{Controllers: options.Controllers, Version: options.Version, Load: s.load, Log: options.Log})
	return s
}

// Run serves hooks and health until ctx ends, and then drains: readiness fails
// at once, new requests are refused after the drain delay, and those in flight
// finish. It closes both listeners, which are plain TCP listeners: hooks are served
// over TLS if the options have a certificate. The error is nil after a complete drain.
func (s *Server) Run(ctx context.Context, hooks, health net.Listener) error {
	errorLog := newErrorLog(s.options.Log)
	hookServer := s.httpServer(s.Hooks(), &s.conns, errorLog)
	healthServer := s.httpServer(s.Health(), &connections{most: maxHealthConnections}, errorLog)
	healthServer.SetKeepAlivesEnabled(false) // there are only a few connections
	hookServer.ConnState = progressOnRequest(s.conns.note)
	following, stop := context.WithCancel(context.WithoutCancel(ctx)) // also during the drain
	var followers sync.WaitGroup
	defer followers.Wait()
	defer stop()
	followers.Go(func() { errorLog.follow(following) })
	s.options.Credentials.follow(following)
	failed := make(chan error, 2)
	acceptLittle(hooks)
	acceptLittle(health)
	// Before readiness is served: the hook listener queues connections already, so that
	// a probe that comes between the two need not fail.
	s.serving.Store(true)
	for _, part := range []struct {
		server   *http.Server
		listener net.Listener
	}{{hookServer, s.options.Credentials.encrypted(hooks)}, {healthServer, health}} {
		go func() {
			if err := part.server.Serve(part.listener); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serving on %s: %w", part.listener.Addr(), err)
			}
		}()
	}
	s.options.Log.Info("serving", "hooks", hooks.Addr().String(), "health", health.Addr().String(),
		"tls", s.options.Credentials.isEncrypted(), "memoryBudget", s.options.MemoryBudget, "maxBodyBytes", s.options.MaxBodyBytes, "maxInFlight", s.options.MaxInFlight)
	select {
	case err := <-failed:
		return errors.Join(err, hookServer.Close(), healthServer.Close())
	case <-ctx.Done():
	}
	return errors.Join(s.drain(hookServer, hooks), healthServer.Close())
}

func (s *Server) httpServer(handler http.Handler, conns *connections, errorLog *errorLog) *http.Server {
	http1 := &http.Protocols{} // see the certificate's configuration in credentials.go
	http1.SetHTTP1(true)
	return &http.Server{
		Handler:           handler,
		ConnState:         conns.note,
		ConnContext:       withConnection,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		Protocols:         http1,
		// Or net/http answers "OPTIONS *" itself, without credentials and without a line in
		// the log.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(errorLog, "", 0),
	}
}
