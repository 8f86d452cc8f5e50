package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/server"
	"github.com/operetta-dev/operetta/metacontroller"
)

// greeting is a parent whose text tells its hook what to do.
type greeting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Text string `json:"text"`
	} `json:"spec"`
}

// greetings is an operator with one ConfigMap. Its hook can be made to wait,
// panic and fail.
type greetings struct {
	entered chan struct{} // gets a value when a hook begins to wait
	leave   chan struct{} // ends the waiting
}

func newGreetings() *greetings {
	return &greetings{entered: make(chan struct{}, 100), leave: make(chan struct{})}
}

func (g *greetings) controller() metacontroller.Controller {
	return metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Greeting", Plural: "greetings"},
		Children: []metacontroller.Child{{
			Resource: metacontroller.Resource{APIVersion: "v1", Kind: "ConfigMap", Plural: "configmaps"}, Update: metacontroller.InPlace,
		}},
		Sync: metacontroller.Sync(g.sync),
	}
}

func (g *greetings) sync(parent *greeting, _ metacontroller.Observed) (metacontroller.Result[struct{}], error) {
	var result metacontroller.Result[struct{}]
	switch parent.Spec.Text {
	case "panic":
		panic("a secret")
	case "fail":
		return result, errors.New("no\ngreeting")
	case "wait":
		g.entered <- struct{}{}
		<-g.leave
	}
	result.Children = []metacontroller.Object{&corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: parent.Name},
	}}
	return result, nil
}

// start serves and returns the address and the log.
func start(t *testing.T, g *greetings, change func(*server.Options)) (string, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	options := server.Options{
		Controllers: []metacontroller.Controller{g.controller()}, Now: time.Now,
		Log: slog.New(slog.NewJSONHandler(log, nil)), MaxBodyBytes: server.DefaultMaxBodyBytes, MaxInFlight: server.DefaultMaxInFlight,
	}
	if change != nil {
		change(&options)
	}
	listening := httptest.NewServer(server.New(options).Hooks())
	t.Cleanup(listening.Close)
	return listening.URL, log
}

func requestFor(text string) string {
	return fmt.Sprintf(`{"parent":{"apiVersion":"example.com/v1","kind":"Greeting","metadata":{"name":"hi","namespace":"ns","uid":"u1","generation":7},"spec":{"text":%q}},
		"children":{"ConfigMap.v1":{"ns/old":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"old","namespace":"ns"}}}},"related":{},"finalizing":false}`, text)
}

func post(t *testing.T, url string, body io.Reader) (*http.Response, string) {
	t.Helper()
	response, err := http.Post(url, "application/json", body)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(text)
}

func TestAnswer(t *testing.T) {
	url, log := start(t, newGreetings(), nil)
	response, first := post(t, url+"/greeting/sync", strings.NewReader(requestFor("hello")))
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "application/json", response.Header.Get("Content-Type"))
	require.Equal(t, int64(len(first)), response.ContentLength)
	require.Contains(t, first, `"kind":"ConfigMap"`)
	_, second := post(t, url+"/greeting/sync", strings.NewReader(requestFor("hello")))
	require.Equal(t, first, second)

	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(strings.SplitN(log.String(), "\n", 2)[0]), &line))
	require.Positive(t, line["duration"])
	for _, name := range []string{"time", "duration"} {
		delete(line, name)
	}
	require.Equal(t, map[string]any{
		"level": "INFO", "msg": "request", "kind": "greeting", "hook": "sync", "namespace": "ns", "name": "hi", "uid": "u1",
		"generation": 7.0, "status": 200.0, "childrenIn": 1.0, "childrenOut": 1.0,
	}, line)
}

func TestRefusals(t *testing.T) {
	good := requestFor("hello")
	for name, test := range map[string]struct {
		path, body string
		code       int
		reason     string
	}{
		"truncated":       {body: good[:len(good)-9], code: 400, reason: "the request body is not valid JSON: unexpected end of JSON input"},
		"empty":           {body: "", code: 400, reason: "the request body is not valid JSON: unexpected end of JSON input"},
		"null":            {body: "null", code: 400, reason: "the request has no parent object"},
		"empty object":    {body: "{}", code: 400, reason: "the request has no parent object"},
		"wrong kind":      {body: strings.Replace(good, "Greeting", "Farewell", 1), code: 400, reason: "the parent is not a Greeting of example.com/v1"},
		"no metadata":     {body: strings.Replace(good, `"metadata"`, `"meta"`, 1), code: 400, reason: "the parent is no object with apiVersion, kind and metadata"},
		"damaged child":   {body: strings.Replace(good, `"name":"old"`, `"name":7`, 1), code: 400, reason: `children["ConfigMap.v1"]: "ns/old" has no metadata.name, or one that is no string`},
		"unwatched kind":  {body: strings.Replace(good, "ConfigMap.v1", "Secret.v1", 1), code: 400, reason: `children["Secret.v1"]: "ns/old" is of another kind`},
		"bad spec":        {body: strings.Replace(good, `"hello"`, `[1]`, 1), code: 400, reason: "the parent cannot be decoded: spec.text is array, and string is wanted"},
		"no such kind":    {path: "/farewell/sync", code: 404, reason: "no such hook: the path is /<kind>/sync, /<kind>/finalize or /<kind>/customize"},
		"no such hook":    {path: "/greeting/customize", code: 404, reason: "no such hook: the path is /<kind>/sync, /<kind>/finalize or /<kind>/customize"},
		"trailing slash":  {path: "/greeting/sync/", code: 404, reason: "no such hook: the path is /<kind>/sync, /<kind>/finalize or /<kind>/customize"},
		"failing hook":    {body: requestFor("fail"), code: 500, reason: "no greeting"},
		"panicking hook":  {body: requestFor("panic"), code: 500, reason: "the hook failed unexpectedly: see the log of the operetta server"},
		"not a tear-down": {path: "/greeting/finalize", body: good, code: 400, reason: `the finalize hook was called with "finalizing": false`},
	} {
		t.Run(name, func(t *testing.T) {
			url, log := start(t, newGreetings(), nil)
			path := test.path
			if path == "" {
				path = "/greeting/sync"
			}
			response, text := post(t, url+path, strings.NewReader(test.body))
			require.Equal(t, test.code, response.StatusCode)
			require.Equal(t, test.reason+"\n", text)
			require.Equal(t, "text/plain; charset=utf-8", response.Header.Get("Content-Type"))
			require.Equal(t, 1, strings.Count(log.String(), "\n"), "one line")
			require.Equal(t, name == "panicking hook", strings.Contains(log.String(), "a secret"), "what a panic says is for the log")
		})
	}
}

func TestOtherMethodsAreNotAllowed(t *testing.T) {
	url, _ := start(t, newGreetings(), nil)
	response, err := http.Get(url + "/greeting/sync")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusMethodNotAllowed, response.StatusCode)
	require.Equal(t, "POST", response.Header.Get("Allow"))
}

func TestTooLargeBodiesSeeTheirRefusal(t *testing.T) {
	const size = 100 << 20
	for name, body := range map[string]io.Reader{
		"with a length": bytes.NewReader(make([]byte, size)),
		"in chunks":     io.LimitReader(zeros{}, size),
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := start(t, newGreetings(), nil)
			response, text := post(t, url+"/greeting/sync", body)
			require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
			require.Equal(t, "the request body is larger than the limit of 67108864 bytes: raise it with --max-body-bytes\n", text)
		})
	}
	url, _ := start(t, newGreetings(), func(o *server.Options) { o.MaxBodyBytes = int64(len(requestFor("hello"))) })
	response, _ := post(t, url+"/greeting/sync", strings.NewReader(requestFor("hello")))
	require.Equal(t, http.StatusOK, response.StatusCode, "the limit itself is not over it")
	response, _ = post(t, url+"/greeting/sync", strings.NewReader(requestFor("hello!")))
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
}

// zeros is an endless body.
type zeros struct{}

// Read fills the buffer.
func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestOverloadTellsWhenToComeBack(t *testing.T) {
	g := newGreetings()
	url, _ := start(t, g, func(o *server.Options) { o.MaxInFlight = 1 })
	codes := make(chan int, 2)
	for range 2 { // one is worked on, one waits for it
		go func() {
			response, err := http.Post(url+"/greeting/sync", "application/json", strings.NewReader(requestFor("wait")))
			if err != nil {
				codes <- 0
				return
			}
			_ = response.Body.Close()
			codes <- response.StatusCode
		}()
	}
	<-g.entered
	// Until the second waits, a third takes its place, waits in vain and gets
	// the same answer.
	response, _ := post(t, url+"/greeting/sync", strings.NewReader(requestFor("hello")))
	require.Equal(t, http.StatusTooManyRequests, response.StatusCode)
	require.Equal(t, "2", response.Header.Get("Retry-After"))
	close(g.leave)
	require.Contains(t, []int{<-codes, <-codes}, http.StatusOK)
}
