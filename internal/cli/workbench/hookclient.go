package workbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/operetta-dev/operetta/internal/server"
	"github.com/operetta-dev/operetta/internal/simulate"
)

// hooks returns a function that calls the hooks: through the server's handler,
// or over HTTP. Both use the server of `serve`, with another clock.
func (p *program) hooks(ctx context.Context, overHTTP, validate bool) (simulate.Call, func(), error) {
	var clock atomic.Pointer[time.Time]
	controllers := p.Controllers()
	if !validate {
		controllers = withoutCRDs(controllers)
	}
	srv := server.New(server.Options{
		Controllers:     controllers,
		Now:             func() time.Time { return *clock.Load() },
		Log:             slog.New(panicLog{p.Err}),
		MaxBodyBytes:    server.DefaultMaxBodyBytes,
		MaxInFlight:     server.DefaultMaxInFlight(),
		ShutdownTimeout: server.DefaultShutdownTimeout,
	})
	if !overHTTP {
		handler := srv.Hooks()
		return func(now time.Time, path string, body []byte) (int, []byte, error) {
			clock.Store(&now)
			return inProcess(handler, path, body)
		}, func() {}, nil
	}
	hooks, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("--over-http: %w", err)
	}
	health, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("--over-http: %w", err), hooks.Close())
	}
	serving, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Run(serving, hooks, health) // a failing call reports it
	}()
	base := "http://" + hooks.Addr().String()
	fmt.Fprintf(p.Err, "The hooks are served at %s\n", base)
	return func(now time.Time, path string, body []byte) (int, []byte, error) {
		clock.Store(&now)
		return post(ctx, base+path, body)
	}, func() { cancel(); <-done }, nil
}

// inProcess calls a handler without a network.
func inProcess(handler http.Handler, path string, body []byte) (int, []byte, error) {
	request, err := http.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	response := &recorder{header: http.Header{}}
	handler.ServeHTTP(response, request)
	return response.code, response.body.Bytes(), nil
}

// recorder stores a response.
type recorder struct {
	code   int
	header http.Header
	body   bytes.Buffer
}

// Header returns the response's headers.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader keeps the status.
func (r *recorder) WriteHeader(code int) { r.code = code }

// Write keeps a part of the body.
func (r *recorder) Write(part []byte) (int, error) { return r.body.Write(part) }

func post(ctx context.Context, url string, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}
