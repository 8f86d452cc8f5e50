package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/server"
	"github.com/operetta-dev/operetta/metacontroller"
)

// catch runs what calls a hook. A panic becomes an error, and its stack is printed:
// whoever calls a hook from the command line is its author.
func (p *program) catch(hook string, call func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the hook panicked: %v", reason)
			fmt.Fprintf(p.Err, "%s: panic: %v\n\n%s\n", hook, reason, debug.Stack())
		}
	}()
	return call()
}

// hooks returns a function that calls the hooks in this process.
func (p *program) hooks(controllers []metacontroller.Controller) player.Call {
	call := player.Direct(controllers...)
	return func(now time.Time, path string, body []byte) (code int, answer []byte, err error) {
		err = p.catch(strings.TrimPrefix(path, "/"), func() error {
			code, answer, err = call(now, path, body)
			return err
		})
		return code, answer, err
	}
}

// hooksOverHTTP returns a function that calls the hooks at the server of serve, which it
// starts, and one that ends the server.
func (p *program) hooksOverHTTP(ctx context.Context, controllers []metacontroller.Controller) (player.Call, func(), error) {
	hooks, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("--over-http: %w", err)
	}
	health, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("--over-http: %w", err), hooks.Close())
	}
	var clock atomic.Pointer[time.Time]
	serving, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.New(server.Options{ // a failing call reports what ends it
			Controllers:     controllers,
			Now:             func() time.Time { return *clock.Load() },
			Log:             slog.New(slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: slog.LevelError})),
			MaxBodyBytes:    server.DefaultMaxBodyBytes,
			MaxInFlight:     server.DefaultMaxInFlight(),
			ShutdownTimeout: server.DefaultShutdownTimeout,
		}).Run(serving, hooks, health)
	}()
	base := "http://" + hooks.Addr().String()
	fmt.Fprintf(p.Err, "The hooks are served at %s\n", base)
	return func(now time.Time, path string, body []byte) (int, []byte, error) {
		clock.Store(&now)
		return post(ctx, base+path, body)
	}, func() { cancel(); <-done }, nil
}

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
