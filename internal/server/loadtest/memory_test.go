package loadtest

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/testenv"
)

const largestBody = 64 << 20

// TestHeadersHoldLittle: they are outside of the memory budget. 2,000 connections
// send very many short ones: all that are taken, and not their end, or these with
// the beginning of a body, or more than are taken, or the names of as many trailers.
// Each comes again when it is refused, and honest requests of 40 MB come meanwhile.
func TestHeadersHoldLittle(t *testing.T) {
	const (
		connections = 2000
		declared    = "Content-Length: 30000\r\n"
	)
	long := 5 * time.Second // until each has been refused once, and come again
	if testenv.Thorough() {
		long = 10 * time.Second
	}
	large := padded(podSet(5000, 4000, ""), 40<<20)
	for name, c := range map[string]struct {
		bytes            int
		begin, each, end string
	}{
		"that do not end":      {4800, declared, ":\r\n", ""},
		"of a body that stops": {4800, declared, ":\r\n", "\r\n{"},
		"of 66 KB":             {66 << 10, declared, ":\r\n", ""},
		"of trailers":          {4800, "Transfer-Encoding: chunked\r\nTrailer: b", ",", "c\r\n\r\n1\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			head := []byte("POST /podset/sync HTTP/1.1\r\nHost: x\r\n" + c.begin)
			for i := 0; len(head) < c.bytes; i++ {
				head = append(append(head, 'A', byte('a'+i%26), byte('a'+i/26%26), byte('a'+i/676%26)), c.each...)
			}
			head = append(head, c.end...)
			ctx, stop := context.WithTimeout(t.Context(), long)
			defer stop()
			var group sync.WaitGroup
			var sent atomic.Int32
			for range connections {
				group.Go(func() {
					for ctx.Err() == nil {
						if sendAndWait(ctx, p.hooks, head) {
							sent.Add(1)
						}
					}
				})
			}
			for range 2 {
				group.Go(func() {
					for ctx.Err() == nil {
						_, _ = post(ctx, client(t), "http://"+p.hooks+"/podset/sync", large)
					}
				})
			}
			group.Wait()
			t.Logf("sent %d times", sent.Load())
			require.Greater(t, sent.Load(), int32(connections/2))
			requireHonest(t, p)
			p.requireAlive(t)
		})
	}
}

// sendAndWait sends something, and waits until the server hangs up. It reports
// whether it could send all.
func sendAndWait(ctx context.Context, address string, text []byte) bool {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer func() { _ = conn.Close() }()
	_, err = conn.Write(text)
	_, _ = io.Copy(io.Discard, conn)
	return err == nil
}

func TestMemoryHolds(t *testing.T) {
	for name, c := range map[string]struct {
		times   int
		body    func() []byte
		allowed []int
	}{
		"60 of 64 MiB":                        {60, func() []byte { return padded(podSet(5000, 7000, ""), largestBody) }, []int{200, 413, 429, 500}},
		"60 of 64 MiB of nothing":             {60, func() []byte { return padded(nil, largestBody) }, []int{400, 413, 429}},
		"60 of tiny Pods":                     {60, func() []byte { return padded(tinyPods(largestBody-1<<20), largestBody) }, []int{400, 413, 429, 500}},
		"10 of 50 MB":                         {10, func() []byte { return podSet(5000, 5400, "") }, []int{200, 413, 429, 500}},
		"60 of more than 64 MiB":              {60, func() []byte { return padded(nil, largestBody+1) }, []int{413, 429}},
		"10 of 5,000 Pods of 200 KB to come":  {10, func() []byte { return podSet(5000, 0, template(200<<10)) }, []int{200, 413, 429, 500}},
		"20 of 5,000 Pods of 100 KB to come":  {20, func() []byte { return podSet(5000, 0, template(100<<10)) }, []int{200, 413, 429, 500}},
		"20 with a spec of a million objects": {20, func() []byte { return podSet(1, 0, containers(1_000_000)) }, []int{400, 413, 429, 500}},
		"3 with a size of two billions":       {3, func() []byte { return podSet(2_000_000_000, 0, "") }, []int{200, 400, 413, 429, 500}},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			requireCodes(t, atOnce(t, p, c.times, c.body()), c.times, c.allowed...)
			requireHonest(t, p)
			p.requireAlive(t)
		})
	}
}

// tinyPods returns a request with as many Pods as have room, each of which has
// little more than what the server notes of it.
func tinyPods(size int) []byte {
	request := podSet(0, 0, "")
	at := len(request) - len(`}},"related":{},"finalizing":false}`)
	body := append(make([]byte, 0, size), request[:at]...)
	for i := 0; len(body) < size-200; i++ {
		if i > 0 {
			body = append(body, ',')
		}
		name := []byte{byte('a' + i%26), byte('a' + i/26%26), byte('a' + i/676%26), byte('a' + i/17576%26), byte('a' + i/456976%26)}
		body = append(append(append(append(append(body, '"'), name...),
			`":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`...), name...), `"}}`...)
	}
	return append(body, request[at:]...)
}

// containers returns a template with so many empty containers.
func containers(n int) string {
	text := make([]byte, 0, 3*n+64)
	text = append(text, `,"template":{"spec":{"containers":[{}`...)
	for range n - 1 {
		text = append(text, `,{}`...)
	}
	return string(append(text, `]}}`...))
}

// TestAnswerThatIsTooLargeNamesTheFields: the text becomes an event.
func TestAnswerThatIsTooLargeNamesTheFields(t *testing.T) {
	p := start(t, "--max-answer-bytes=128Ki")
	got, err := post(t.Context(), client(t), "http://"+p.hooks+"/podset/sync", podSet(5000, 0, template(200<<10)))
	require.NoError(t, err)
	require.Equal(t, http.StatusInternalServerError, got.code)
	require.Contains(t, got.text, "spec.size (now 5000) or spec.template (now 204")
}

// TestHonestRequestsAllEndWell sends 60 requests of 9 MB at once, as
// Metacontroller would: after 429 it comes again when it was told to, at once
// where it was not, and after any other error in a while.
func TestHonestRequestsAllEndWell(t *testing.T) {
	const times = 60
	p, client, body := start(t), client(t), podSet(1000, 1000, "")
	t.Logf("%d bytes each", len(body))
	var group sync.WaitGroup
	var answered, refused, failed atomic.Int32
	started := time.Now()
	for range times {
		group.Go(func() {
			for time.Since(started) < time.Minute {
				got, err := post(t.Context(), client, "http://"+p.hooks+"/podset/sync", body)
				switch {
				case err == nil && got.code == http.StatusOK:
					answered.Add(1)
					return
				case err == nil && got.code == http.StatusTooManyRequests:
					refused.Add(1)
					time.Sleep(got.retryAfter)
				default:
					failed.Add(1)
					t.Logf("%d %s %v", got.code, got.text, err)
					time.Sleep(time.Second)
				}
			}
		})
	}
	group.Wait()
	t.Logf("after %s: %d answered, %d times 429, %d times something else", time.Since(started), answered.Load(), refused.Load(), failed.Load())
	require.EqualValues(t, times, answered.Load(), "all within a minute")
	p.requireAlive(t)
}
