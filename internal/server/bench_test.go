package server_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/internal/server"
	"github.com/operetta-dev/operetta/metacontroller"
)

// honest returns a sync request of 29 kB: a PodSet with three Pods.
func honest() []byte {
	filler := strings.Repeat(`{"manager":"kubelet","operation":"Update","fieldsV1":{"f:status":{"f:conditions":{},"f:phase":{}}}},`, 90)
	var pods []string
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		pods = append(pods, `"default/`+name+`":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`+name+`","namespace":"default",`+
			`"creationTimestamp":"2026-01-02T03:00:00Z","labels":{"podset":"web"},"managedFields":[`+filler+`{"manager":"last"}]},`+
			`"spec":{"nodeName":"node-1","containers":[{"name":"busybox","image":"busybox:1.37"}]},`+
			`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T03:00:03Z"}]}}`)
	}
	return []byte(`{"controller":{},"parent":{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet",` +
		`"metadata":{"name":"web","namespace":"default","uid":"1"},"spec":{"size":3}},"children":{"Pod.v1":{` + strings.Join(pods, ",") +
		`}},"related":{},"finalizing":false}`)
}

func BenchmarkCall(b *testing.B) {
	controller, body, now := podset.Controller(), honest(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := controller.Call(metacontroller.SyncHook, now, body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	hooks, health := listen(b), listen(b)
	go func() {
		_ = server.New(server.Options{
			Controllers: []metacontroller.Controller{podset.Controller()}, Now: time.Now, Log: discard(),
			MaxBodyBytes: server.DefaultMaxBodyBytes, MaxInFlight: 64, ShutdownTimeout: time.Second,
		}).Run(b.Context(), hooks, health)
	}()
	client, body := &http.Client{Transport: &http.Transport{}}, honest()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		response, err := client.Post("http://"+hooks.Addr().String()+"/podset/sync", "application/json", bytes.NewReader(body))
		require.NoError(b, err)
		_, _ = io.Copy(io.Discard, response.Body)
		require.NoError(b, response.Body.Close())
		require.Equal(b, http.StatusOK, response.StatusCode)
	}
}
