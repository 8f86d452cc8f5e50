package server_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/server"
)

func TestAnswerIsWhole(t *testing.T) {
	e := start(t, nil)
	morning := strings.Repeat("good morning ", 1000) // more than net/http holds back to count it
	got := e.post(t, "/greeting/sync", request(morning))
	require.Equal(t, http.StatusOK, got.code, got.body)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Equal(t, strconv.Itoa(len(got.body)), got.header.Get("Content-Length"))
	require.Empty(t, got.header.Get("Content-Encoding"))

	var answer struct {
		Status   map[string]any
		Children []struct {
			Kind string
			Data map[string]string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.body), &answer))
	require.Equal(t, map[string]any{"seen": 1.0, "now": "03:04:05"}, answer.Status, "the clock is the one that is handed in")
	require.Len(t, answer.Children, 1)
	require.Equal(t, morning, answer.Children[0].Data["text"])
}

func TestEveryHookHasItsRoute(t *testing.T) {
	e := start(t, nil)
	farewell := strings.Replace(request("bye"), `"Greeting"`, `"Farewell"`, 1)
	finalizing := strings.Replace(request("hi"), `"finalizing": false`, `"finalizing": true`, 1)
	require.Contains(t, e.post(t, "/greeting/sync", request("hi")).body, `"children":[{`)
	require.Contains(t, e.post(t, "/greeting/finalize", finalizing).body, `"finalized":false`)
	require.Equal(t, `{"relatedResources":[]}`, e.post(t, "/greeting/customize", request("hi")).body)
	require.Contains(t, e.post(t, "/farewell/sync", farewell).body, `"children":[{`)
	require.Equal(t, http.StatusNotFound, e.post(t, "/farewell/customize", farewell).code, "there is no such hook")
}

func TestErrors(t *testing.T) {
	t.Parallel()
	whole := request("hi")
	without := func(part, instead string) string {
		require.Contains(t, whole, part)
		return strings.Replace(whole, part, instead, 1)
	}
	notFound := "no such hook: the path is /<kind>/sync, /<kind>/finalize or /<kind>/customize\n"
	for name, c := range map[string]struct {
		method, path, body string
		code               int
		says               string // all of the body where it ends in a newline, else a part
	}{
		"empty body":            {body: "", code: 400, says: "the request body is not valid JSON: EOF\n"},
		"half a body":           {body: whole[:len(whole)/2], code: 400, says: "the request body is not valid JSON at byte 184: unexpected EOF\n"},
		"another kind":          {body: without(`"Greeting"`, `"Farewell"`), code: 400, says: "the parent is not a Greeting of toys.example.com/v1\n"},
		"text that is a number": {body: without(`"text": "hi"`, `"text": 7`), code: 400, says: "the parent cannot be decoded"},
		"hook that fails":       {body: request("fail"), code: 500, says: "spec.text cannot be said: say it otherwise\n"},
		"hook that panics":      {body: request("panic"), code: 500, says: "the hook failed unexpectedly: see the log of the operetta server\n"},
		"child of another kind": {body: request("undeclared"), code: 500, says: "child Secret/hello: greeting does not declare the kind Secret"},
		"unknown kind":          {path: "/salute/sync", body: whole, code: 404, says: notFound},
		"unknown hook":          {path: "/greeting/adopt", body: whole, code: 404, says: notFound},
		"kind alone":            {path: "/greeting", body: whole, code: 404, says: notFound},
		"slash at the end":      {path: "/greeting/sync/", body: whole, code: 404, says: notFound},
		"escaped slash":         {path: "/greeting%2Fsync", body: whole, code: 404, says: notFound},
		"dots":                  {path: "/x/../greeting/sync", body: whole, code: 404, says: notFound},
		"upper case":            {path: "/Greeting/sync", body: whole, code: 404, says: notFound},
		"GET":                   {method: http.MethodGet, code: 405, says: "a hook takes POST only\n"},
		"unheard-of method":     {method: "GREET", body: whole, code: 405, says: "a hook takes POST only\n"},
		"GET of nothing":        {method: http.MethodGet, path: "/salute/sync", code: 404, says: notFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t, nil)
			method, path := c.method, c.path
			if method == "" {
				method = http.MethodPost
			}
			if path == "" {
				path = "/greeting/sync"
			}
			got, err := e.do(method, path, strings.NewReader(c.body))
			require.NoError(t, err)
			require.Equal(t, c.code, got.code, got.body)
			require.Contains(t, got.body, c.says)
			if strings.HasSuffix(c.says, "\n") {
				require.Equal(t, c.says, got.body)
			}
			requireOneLine(t, got)
			require.Equal(t, c.code == http.StatusMethodNotAllowed, got.header.Get("Allow") == http.MethodPost)
			require.NotContains(t, got.body, "secret")

			line := e.log.requests(t, 1)[0]
			require.Equal(t, float64(c.code), line["status"])
			require.Equal(t, map[bool]string{false: "WARN", true: "ERROR"}[c.code >= 500], line["level"])
		})
	}
}

// requireOneLine fails unless the body of an error is one short line of plain
// text.
func requireOneLine(t *testing.T, got answered) {
	t.Helper()
	require.Equal(t, "text/plain; charset=utf-8", got.header.Get("Content-Type"))
	require.Equal(t, len(got.body)-1, strings.Index(got.body, "\n"), "one line: %q", got.body)
	require.Less(t, len(got.body), 1000)
}

func TestLongReasonIsCut(t *testing.T) {
	got := start(t, nil).post(t, "/greeting/sync", request("fail at length"))
	require.Equal(t, http.StatusInternalServerError, got.code)
	requireOneLine(t, got)
	require.True(t, strings.HasSuffix(got.body, "ä...\n"), "whole characters: %q", got.body)
}

// TestContentTypeIsNotLookedAt: Metacontroller's is what it is.
func TestContentTypeIsNotLookedAt(t *testing.T) {
	e := start(t, nil)
	for _, contentType := range []string{"", "text/plain", "application/json", "application/x-www-form-urlencoded"} {
		post, err := http.NewRequest(http.MethodPost, "http://"+e.hooks+"/greeting/sync", strings.NewReader(request("hi")))
		require.NoError(t, err)
		post.Header.Set("Content-Type", contentType)
		post.Header.Set("Accept-Encoding", "gzip")
		got, err := roundTrip(http.DefaultClient, post)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, got.code)
		require.Empty(t, got.header.Get("Content-Encoding"))
	}
}

// TestTruncatedBody ends a body before its declared length.
func TestTruncatedBody(t *testing.T) {
	e := start(t, nil)
	connection, err := net.Dial("tcp", e.hooks)
	require.NoError(t, err)
	defer func() { _ = connection.Close() }()
	_, err = io.WriteString(connection, "POST /greeting/sync HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"+request("hi"))
	require.NoError(t, err)
	require.NoError(t, connection.(*net.TCPConn).CloseWrite())
	response, err := io.ReadAll(connection)
	require.NoError(t, err)
	require.Contains(t, string(response), "HTTP/1.1 400 Bad Request\r\n")
	require.Contains(t, string(response), "\r\n\r\nthe request body could not be read to its end\n")
}

func TestLargestBodyIsRead(t *testing.T) {
	body := request("hi")
	e := start(t, func(o *server.Options) { o.MaxBodyBytes = int64(len(body)) })
	require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", body).code)
	require.Equal(t, http.StatusRequestEntityTooLarge, e.post(t, "/greeting/sync", body+" ").code)
}

// TestTooLargeBody: the client sees the answer, and not a broken connection.
func TestTooLargeBody(t *testing.T) {
	e := start(t, func(o *server.Options) { o.MaxBodyBytes = 1 << 20 })
	got := e.post(t, "/greeting/sync", strings.Repeat("0", 16<<20))
	require.Equal(t, http.StatusRequestEntityTooLarge, got.code)
	require.Equal(t, "the request body is larger than the limit of 1048576 bytes: raise --max-body-bytes, and the memory limit with it\n", got.body)
}

// TestBodyWithoutALength: what is to be read has to be known before.
func TestBodyWithoutALength(t *testing.T) {
	got, err := start(t, nil).do(http.MethodPost, "/greeting/sync", io.MultiReader(strings.NewReader(request("hi"))))
	require.NoError(t, err)
	require.Equal(t, http.StatusLengthRequired, got.code)
	require.Equal(t, "the request has no Content-Length\n", got.body)
}

// TestTooLargeBodyIsNotAskedFor: a client that asks first sends nothing.
func TestTooLargeBodyIsNotAskedFor(t *testing.T) {
	e := start(t, nil)
	asked := time.Now()
	got := sendThenRead(t, e.hooks, "Content-Length: 300000000\r\nExpect: 100-continue\r\n\r\n", nil)
	require.Equal(t, http.StatusRequestEntityTooLarge, got.code)
	require.Less(t, time.Since(asked), time.Minute, "the server does not wait for it either")
}

// TestDeadline: a hook that takes too long is given up when it next decodes, or returns.
func TestDeadline(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) { o.AnswerTimeout = time.Second })
	late := e.later("/greeting/sync", request("block"))
	e.untilReached(t, late)
	time.Sleep(3 * time.Second) // a busy machine runs timers late
	close(e.release)
	got := <-late
	require.Equal(t, http.StatusInternalServerError, got.code)
	require.Equal(t, "no answer was computed within 1s: make the resource smaller\n", got.body)
}

// TestControlCharactersAreShownAsText in what becomes an event and in the log.
func TestControlCharactersAreShownAsText(t *testing.T) {
	e := start(t, nil)
	evil := "\x1b[2J\x00\u009b\u202e"
	inJSON := `\u001b[2J\u0000\u009b\u202e`
	long := strings.Repeat("n", 1<<20)
	child := strings.Replace(request("hi"), `"ConfigMap.v1": {`, `"ConfigMap.v1": {"`+inJSON+long+`": null, `, 1)
	for _, body := range []string{
		child, `{"parent":` + evil, strings.Replace(request("hi"), `"name": "hello", "uid"`, `"name": "`+inJSON+long+`", "uid"`, 1),
	} {
		requirePlain(t, e.post(t, "/greeting/sync", body).body)
	}
	path, err := e.do(http.MethodPost, "/%1b%00%e2%80%ae"+strings.Repeat("p", 4_000), nil)
	require.NoError(t, err)
	requirePlain(t, path.body)
	for _, line := range e.log.requests(t, 4) {
		for key, value := range line {
			if text, ok := value.(string); ok {
				requirePlain(t, text)
				require.Less(t, len(text), 1000, key)
			}
		}
	}
}

func requirePlain(t *testing.T, text string) {
	t.Helper()
	require.NotContains(t, text, strings.Repeat("n", 1000))
	for _, r := range text {
		require.True(t, strconv.IsPrint(r) || r == '\n', "%q", text)
	}
}
