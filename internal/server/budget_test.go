package server_test

import (
	"fmt"
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

// withChildren returns a request with so many observed children.
func withChildren(text string, count int) string {
	var children strings.Builder
	for i := range count {
		fmt.Fprintf(&children, `"default/c-%d":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"c-%d"}},`, i, i)
	}
	return strings.Replace(request(text), `"ConfigMap.v1": {`, `"ConfigMap.v1": {`+children.String(), 1)
}

// TestBodiesWaitForMemory: of three large bodies one has room. The second
// comes when the first is answered, and the third has waited for too long.
func TestBodiesWaitForMemory(t *testing.T) {
	slow(t)
	t.Parallel()
	e := start(t, func(o *server.Options) {
		o.MemoryBudget, o.MaxInFlight = littleMemory, 8
		o.AnswerTimeout = 10 * time.Second
	})
	large := func(text string) string { return request(text) + strings.Repeat(" ", littleMemory/4) }
	first := e.later("/greeting/sync", large("block"))
	e.untilReached(t, first)
	second := <-e.later("/greeting/sync", large("hi"))
	require.Equal(t, http.StatusTooManyRequests, second.code, second.body)
	require.Equal(t, "too many requests at once: try again\n", second.body)
	seconds, err := strconv.Atoi(second.header.Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, seconds)
	require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", request("hi")).code, "a small one has a share of its own")
	close(e.release)
	<-first
	require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", large("hi")).code, "what the first held is free again")
}

// littleMemory is a budget that a test can fill with a body that is read at once,
// under the race detector as well: a quarter of it is a large body, and two of
// those are more than it has for bodies.
const littleMemory = 8 << 20

// slow leaves a test of many seconds out of the inner loop: make cover runs it.
func slow(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make cover runs it")
	}
}

// TestMemoryIsGivenBack after every kind of end: as much as the whole budget
// goes through it many times.
func TestMemoryIsGivenBack(t *testing.T) {
	times := 3
	if testing.Short() {
		times = 1 // the five bodies alone are more than the budget: make cover
	}
	e := start(t, func(o *server.Options) { o.MemoryBudget = littleMemory })
	for i, body := range []string{request("hi"), request("fail"), request("panic"), "nothing", withChildren("hi", 1000)} {
		body += strings.Repeat(" ", littleMemory/4)
		for range times {
			require.Contains(t, []int{200, 400, 500}, e.post(t, "/greeting/sync", body).code, i)
		}
	}
	for range 40 { // bodies that break off
		connection, err := net.Dial("tcp", e.hooks)
		require.NoError(t, err)
		_, err = fmt.Fprintf(connection, "POST /greeting/sync HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", littleMemory/4, strings.Repeat(" ", 100_000))
		require.NoError(t, err)
		require.NoError(t, connection.Close())
	}
	require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", request("hi")+strings.Repeat(" ", littleMemory/4)).code)
}

// TestMoreThanTheBudgetIsNotForAnotherTime: a client that came again would
// never have an answer.
func TestMoreThanTheBudgetIsNotForAnotherTime(t *testing.T) {
	e := start(t, func(o *server.Options) { o.MemoryBudget = littleMemory })
	got := e.post(t, "/greeting/sync", withChildren("hi", 25_000))
	require.Equal(t, http.StatusInternalServerError, got.code)
	require.Contains(t, got.body, "bytes of the memory budget for what it computes, and this is more than one call may have: make the resource smaller, or raise --memory-budget\n")
	got = e.post(t, "/greeting/sync", strings.Repeat(" ", littleMemory/2+1))
	require.Equal(t, http.StatusRequestEntityTooLarge, got.code, "no body is larger than half of the budget")
}

// TestSlowBodyEnds holds no hook up while it comes.
func TestSlowBodyEnds(t *testing.T) {
	for _, declared := range []int{30_000, 30_000_000} {
		t.Run(strconv.Itoa(declared), func(t *testing.T) {
			t.Parallel()
			e := start(t, func(o *server.Options) { o.MaxInFlight = 1 })
			connection, err := net.Dial("tcp", e.hooks)
			require.NoError(t, err)
			defer func() { _ = connection.Close() }()
			_, err = fmt.Fprintf(connection, "POST /greeting/sync HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n{", declared)
			require.NoError(t, err)
			began := time.Now()
			require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", request("hi")).code)
			require.NoError(t, connection.SetReadDeadline(began.Add(20*time.Second)))
			answer, err := io.ReadAll(connection)
			require.NoError(t, err)
			require.Contains(t, string(answer), "HTTP/1.1 429 Too Many Requests\r\n")
			require.Contains(t, string(answer), "Retry-After: ")
			require.Contains(t, string(answer), "\r\n\r\nthe request body did not arrive in time: try again\n")
		})
	}
}

// TestDeadline: a hook that takes too long is given up at its next look.
func TestDeadline(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) { o.AnswerTimeout = time.Second })
	late := e.later("/greeting/sync", request("block"))
	e.untilReached(t, late)
	time.Sleep(1100 * time.Millisecond)
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

// TestTinyRequestsHaveASlotAndMemory while others, of which each costs more, have
// taken all that they can get: long ones, and short ones of very many values.
func TestTinyRequestsHaveASlotAndMemory(t *testing.T) {
	slow(t)
	t.Parallel()
	for name, fill := range map[string]string{
		"long ones":            `"` + strings.Repeat("x", 100_000) + `"`,
		"ones of a million":    `"` + strings.Repeat("x", 1_000_000) + `"`,
		"short ones with many": `[` + strings.Repeat("0,", 20_000) + `0]`,
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, func(o *server.Options) {
				o.MemoryBudget, o.MaxInFlight, o.AnswerTimeout = server.LeastMemoryBudget, 4, 3*time.Second
			})
			filled := func(text string) string {
				return strings.Replace(request(text), `"spec": {`, `"spec": {"x": `+fill+`, `, 1)
			}
			require.NotEqual(t, request("block"), filled("block"))
			for range 30 {
				e.later("/greeting/sync", filled("block"))
			}
			<-e.reached
			time.Sleep(300 * time.Millisecond) // the others have come
			for range 10 {
				require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", request("hi")).code)
			}
			require.Equal(t, http.StatusTooManyRequests, e.post(t, "/greeting/sync", filled("hi")).code)
			close(e.release)
		})
	}
}
