package hooks_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/server"
	"github.com/operetta-dev/operetta/metacontroller"
)

// FuzzEndpoints sends the bodies of cases, with bytes changed, to the endpoints of the server:
// what is read, admitted, answered and logged there, and not the hooks alone, which FuzzHooks
// is for. There is no connection, whose goroutines would look like new coverage.
func FuzzEndpoints(f *testing.F) {
	type endpoint struct {
		controller metacontroller.Controller
		hook       metacontroller.HookName
	}
	var endpoints []endpoint
	places := map[string]uint8{}
	for _, controller := range hooks.All() {
		for _, hook := range controller.Hooks() {
			places[controller.Name()+"/"+string(hook)] = uint8(len(endpoints))
			endpoints = append(endpoints, endpoint{controller, hook})
		}
	}
	for _, c := range cases(f) {
		f.Add(places[c.Controller.Name()+"/"+string(c.Hook)], c.Request)
	}
	s := server.New(server.Options{
		Controllers: hooks.All(), Now: time.Now, Log: slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug})),
		MaxBodyBytes: server.DefaultMaxBodyBytes,
	})
	handler := s.Hooks()
	f.Fuzz(func(t *testing.T, at uint8, body []byte) {
		to := endpoints[int(at)%len(endpoints)]
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, httptest.NewRequest(http.MethodPost, "/"+to.controller.Name()+"/"+string(to.hook), bytes.NewReader(body)))
		answer := response.Body.Bytes()
		switch response.Code {
		case http.StatusOK:
			require.True(t, json.Valid(answer), "%s", answer)
		case http.StatusBadRequest, http.StatusInternalServerError:
			text := strings.TrimSuffix(string(answer), "\n")
			require.NotEmpty(t, text)
			require.NotContains(t, text, "failed unexpectedly", "it panicked")
			require.Less(t, len(text), 4<<10)
			require.Equal(t, -1, strings.IndexFunc(text, unicode.IsControl), "%q", text)
		default:
			t.Fatalf("%d: %s", response.Code, answer)
		}
	})
}
