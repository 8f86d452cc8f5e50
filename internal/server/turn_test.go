package server_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/build"
	"github.com/operetta-dev/operetta/internal/server"
)

// TestALittleRequestThatAsksForMuchHasNoTinyTurn: what it costs is known only
// while it is computed. It waits for a turn as others do, and however many of them
// wait, the tiny ones keep theirs.
func TestALittleRequestThatAsksForMuchHasNoTinyTurn(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) {
		o.MemoryBudget, o.MaxInFlight, o.AnswerTimeout = server.LeastMemoryBudget, 4, 8*time.Second // for a busy machine
	})
	require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", request("much")).code)
	long := strings.Replace(request("block"), `"spec": {`, `"spec": {"x": "`+strings.Repeat("x", 100_000)+`", `, 1)
	for range 10 { // for each turn that is not tiny, and more
		e.later("/greeting/sync", long)
	}
	<-e.reached
	time.Sleep(300 * time.Millisecond) // the others have come
	padded := request("much") + strings.Repeat(" ", 60_000)
	var answers []<-chan answered
	for range 40 { // some times the tiny memory, and not all that openings have: who is crowded out of those may see no answer
		answers = append(answers, e.later("/greeting/sync", padded))
	}
	for range 20 {
		require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", request("hi")).code)
	}
	for _, answer := range answers {
		got := <-answer
		require.Equal(t, http.StatusTooManyRequests, got.code, "no turn of others was free: %s", got.body)
	}
	close(e.release)
	require.Equal(t, http.StatusOK, e.post(t, "/greeting/sync", padded).code)
}

// TestEachAddressHasItsTurn: whoever sends very many requests, or such as take
// long, makes the others wait for one of them at a time and not for all.
func TestEachAddressHasItsTurn(t *testing.T) {
	t.Parallel()
	const many = 300 // more than the memory of tiny requests is for
	e := start(t, func(o *server.Options) { o.MaxInFlight, o.AnswerTimeout = 1, time.Minute })
	flood := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, 1)}}).DialContext}}
	t.Cleanup(flood.CloseIdleConnections)
	var sent sync.WaitGroup
	for range many {
		sent.Go(func() {
			response, err := flood.Post("http://"+e.hooks+"/greeting/sync", "application/json", strings.NewReader(request("block")))
			if err == nil {
				_ = response.Body.Close()
			}
		})
	}
	<-e.reached
	time.Sleep(300 * time.Millisecond) // the others have come
	honest := e.later("/greeting/sync", request("hi"))
	for range 20 { // one for the memory and one for the turn, and some to be sure
		time.Sleep(50 * time.Millisecond)
		e.release <- struct{}{}
		<-e.reached
	}
	select {
	case answer := <-honest:
		require.Equal(t, http.StatusOK, answer.code)
	case <-time.After(5 * time.Second):
		t.Fatal("it waits for all that came before")
	}
	close(e.release)
	go func() {
		for range e.reached { // there is not room for all
		}
	}()
	sent.Wait()
}

// TestEachNamespaceHasItsTurn: the same among the namespaces for which one address
// asks, for requests that are not tiny.
func TestEachNamespaceHasItsTurn(t *testing.T) {
	t.Parallel()
	for size, padding := range map[string]int{"small": 100_000, "large": 1_100_000} {
		t.Run(size, func(t *testing.T) {
			if testing.Short() && size == "large" {
				t.Skip("large bodies, in make cover")
			}
			t.Parallel()
			e := start(t, func(o *server.Options) {
				o.MemoryBudget, o.MaxInFlight, o.AnswerTimeout = server.LeastMemoryBudget, 1, time.Minute
			})
			padded := func(text string) string {
				return strings.Replace(request(text), `"spec": {`, `"spec": {"x": "`+strings.Repeat("x", padding)+`", `, 1)
			}
			var answers []<-chan answered
			for range 30 { // more than there is memory for
				answers = append(answers, e.later("/greeting/sync", padded("block")))
			}
			<-e.reached
			time.Sleep(300 * time.Millisecond) // the others have come
			other := strings.ReplaceAll(padded("hi"), `"default`, `"other`)
			honest := e.later("/greeting/sync", other)
			for range 10 { // as for addresses
				time.Sleep(20 * time.Millisecond)
				e.release <- struct{}{}
				<-e.reached
			}
			select {
			case answer := <-honest:
				require.Equal(t, http.StatusOK, answer.code, answer.body)
			case <-time.After(5 * time.Second):
				t.Fatal("it waits for all that came before")
			}
			close(e.release)
			for _, answer := range answers {
				<-answer
			}
		})
	}
}

// TestALargeBodyOfWhichLittleIsReadIsSmall: it waits for no turn of the large ones.
func TestALargeBodyOfWhichLittleIsReadIsSmall(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) { o.MaxInFlight, o.AnswerTimeout = 4, 10*time.Second })
	filled := func(text string) string {
		return strings.Replace(request(text), `"spec": {`, `"spec": {"x": "`+strings.Repeat("x", 1_100_000)+`", `, 1)
	}
	for range 2 { // all that large ones may have
		e.untilReached(t, e.later("/greeting/sync", filled("block")))
	}
	unread := `"related": {"Pod.v1": {"default/a": {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "default", "name": "a",
		"labels": {"x": "` + strings.Repeat("x", 100_000) + `"}, "managedFields": ["` + strings.Repeat("x", 1_100_000) + `"]}}}}`
	answer := e.post(t, "/greeting/sync", strings.Replace(request("hi"), `"related": {}`, unread, 1))
	require.Equal(t, http.StatusOK, answer.code, answer.body)
	e.requireWaits(t, "/greeting/sync", filled("hi"))
	close(e.release)
}

// TestALargeRequestLeavesMemoryToOthers: one that has more than its hook's part of the
// budget takes all of that, for as long as the hook runs. What hooks of others need
// beyond what they have prepaid is there nevertheless.
func TestALargeRequestLeavesMemoryToOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("20 MB of body, in make cover")
	}
	t.Parallel()
	e := start(t, func(o *server.Options) {
		o.MaxInFlight, o.AnswerTimeout, o.MemoryBudget = 4, 20*time.Second, 64<<20
		o.Controllers = append(o.Controllers, build.Controller())
	})
	e.untilReached(t, e.later("/greeting/sync", strings.Repeat(" ", 20<<20)+request("block")))
	for _, variables := range []int{60, 100, 400} {
		var env []string
		for i := range variables {
			env = append(env, fmt.Sprintf(`{"name":"VARIABLE_%d","value":"https://example.com/some/value"}`, i))
		}
		body := `{"parent":{"apiVersion":"ci.zt.vapi.cc/v1","kind":"Build","metadata":{"namespace":"other","name":"b","uid":"u","generation":1},"spec":{"image":"i","source":{"git":{"url":"https://a/b","revision":"x"}},"env":[` +
			strings.Join(env, ",") + `]}},"children":{"Job.batch/v1":{}},"related":{"Pod.v1":{}},"finalizing":false}`
		answer := e.post(t, "/build/sync", body)
		require.Equal(t, http.StatusOK, answer.code, "%d variables: %s", variables, answer.body)
	}
	close(e.release)
}

// TestMuchMemoryIsWaitedFor: what a hook needs beyond the memory that large requests leave
// to others it waits for, in turn, while large ones follow one another.
func TestMuchMemoryIsWaitedFor(t *testing.T) {
	if testing.Short() {
		t.Skip("80 MB of bodies, in make cover")
	}
	t.Parallel()
	e := start(t, func(o *server.Options) {
		o.MaxInFlight, o.AnswerTimeout, o.MemoryBudget = 4, 20*time.Second, 64<<20
	})
	large := strings.Repeat(" ", 20<<20)
	e.untilReached(t, e.later("/greeting/sync", large+request("block")))
	for range 3 {
		e.later("/greeting/sync", large+request("block"))
	}
	var much []<-chan answered
	for range 4 { // together they need more than there is
		much = append(much, e.later("/greeting/sync", request("much")))
	}
	e.requireWaits(t, "/greeting/sync", request("much"))
	close(e.release)
	for _, request := range much {
		got := <-request
		require.Equal(t, http.StatusOK, got.code, got.body)
	}
}

// TestCustomizeWaitsForNoSync: Metacontroller asks customize from the one thread that
// hands out the events of a kind to all controllers, so that a namespace whose syncs take
// long would hold up the events of all.
func TestCustomizeWaitsForNoSync(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) {
		o.MaxInFlight, o.AnswerTimeout, o.MemoryBudget = 4, 20*time.Second, 64<<20
	})
	padded := func(text string, length int) string {
		return strings.Replace(request(text), `"spec": {`, `"spec": {"x": "`+strings.Repeat("x", length)+`", `, 1)
	}
	for range 5 { // ten, as many as Metacontroller has workers for a kind
		e.later("/greeting/sync", padded("block", 66_000))
		e.later("/greeting/sync", padded("block", 1_100_000))
	}
	<-e.reached
	time.Sleep(300 * time.Millisecond) // the others have come
	for range 3 {
		for _, length := range []int{0, 66_000, 1_100_000} {
			require.Equal(t, http.StatusOK, e.post(t, "/greeting/customize", padded("hi", length)).code, length)
		}
	}
	e.requireWaits(t, "/greeting/sync", padded("hi", 66_000)) // the other syncs are still there
	close(e.release)
}
