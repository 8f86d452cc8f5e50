package server_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/server"
	"github.com/operetta-dev/operetta/metacontroller"
)

// running is a server with both its listeners.
type running struct {
	hooks, health string
	stop          context.CancelFunc
	ended         chan error
}

func run(t *testing.T, g *greetings, drainDelay, shutdownTimeout time.Duration) running {
	t.Helper()
	hooks, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	health, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	r := running{"http://" + hooks.Addr().String(), "http://" + health.Addr().String(), stop, make(chan error, 1)}
	srv := server.New(server.Options{
		Controllers: []metacontroller.Controller{g.controller()}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		MaxBodyBytes: 1 << 20, MaxInFlight: 8, DrainDelay: drainDelay, ShutdownTimeout: shutdownTimeout,
	})
	go func() { r.ended <- srv.Run(ctx, hooks, health) }()
	require.Eventually(t, func() bool { return get(r.health+"/readyz") == "200 ok" }, 10*time.Second, time.Millisecond)
	return r
}

func get(url string) string {
	response, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(response.Body)
	return response.Status[:3] + " " + string(bytes.TrimSpace(text))
}

func TestDrainLosesNoRequest(t *testing.T) {
	g := newGreetings()
	r := run(t, g, 300*time.Millisecond, 10*time.Second)
	require.Equal(t, "200 ok", get(r.health+"/healthz"))
	require.Equal(t, "404 404 page not found", get(r.health+"/metrics"))

	inFlight := make(chan int, 1)
	go func() {
		response, err := http.Post(r.hooks+"/greeting/sync", "application/json", strings.NewReader(requestFor("wait")))
		if err != nil {
			inFlight <- 0
			return
		}
		_ = response.Body.Close()
		inFlight <- response.StatusCode
	}()
	<-g.entered
	r.stop()
	require.Eventually(t, func() bool { return get(r.health+"/readyz") == "503 draining" }, 10*time.Second, time.Millisecond)
	require.Equal(t, "200 ok", get(r.health+"/healthz"), "alive all the same")
	response, _ := post(t, r.hooks+"/greeting/sync", strings.NewReader(requestFor("hello")))
	require.Equal(t, http.StatusOK, response.StatusCode, "the cluster may not have noticed yet")

	require.Eventually(t, func() bool {
		response, err := http.Post(r.hooks+"/greeting/sync", "application/json", strings.NewReader(requestFor("hello")))
		if err != nil {
			return true // it no longer listens
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusServiceUnavailable
	}, 10*time.Second, time.Millisecond)
	close(g.leave)
	require.Equal(t, http.StatusOK, <-inFlight)
	require.NoError(t, <-r.ended)
}

func TestDrainEndsInTime(t *testing.T) {
	g := newGreetings()
	r := run(t, g, 0, time.Millisecond)
	go func() {
		response, err := http.Post(r.hooks+"/greeting/sync", "application/json", strings.NewReader(requestFor("wait")))
		if err == nil {
			_ = response.Body.Close()
		}
	}()
	<-g.entered
	r.stop()
	require.ErrorContains(t, <-r.ended, "requests were still in flight after 1ms")
	close(g.leave)
}
