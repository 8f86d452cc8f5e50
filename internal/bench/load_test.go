package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// connections are those that Metacontroller would have with eight workers of a kind.
const connections = 8

// post is a request to a path, as it is written to a connection.
func post(path string, body []byte) []byte {
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, len(body))
	return append([]byte(head), body...)
}

// load sends a request on some connections, again as soon as it is answered, and returns how
// many a second were. It does little more than two system calls for each: client and server
// share the processors.
func load(address string, request []byte, lasting time.Duration) (float64, error) {
	var group sync.WaitGroup
	var answered atomic.Int64
	var isOver atomic.Bool
	failures := make(chan error, connections)
	began := time.Now()
	for range connections {
		group.Go(func() {
			count, err := send(address, request, &isOver, began.Add(lasting+10*time.Second))
			answered.Add(count)
			failures <- err
		})
	}
	time.AfterFunc(lasting, func() { isOver.Store(true) })
	group.Wait()
	took := time.Since(began)
	close(failures)
	var err error
	for failure := range failures {
		err = errors.Join(err, failure)
	}
	return float64(answered.Load()) / took.Seconds(), err
}

// send does so on one connection.
func send(address string, request []byte, isOver *atomic.Bool, deadline time.Time) (count int64, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(deadline); err != nil {
		return 0, err
	}
	for answers := bufio.NewReaderSize(conn, 64<<10); !isOver.Load(); count++ {
		if _, err := conn.Write(request); err != nil {
			return count, err
		}
		if err := skipAnswer(answers); err != nil {
			return count, err
		}
	}
	return count, nil
}

var (
	statusOK      = []byte("HTTP/1.1 200 ")
	contentLength = []byte("content-length:")
)

// skipAnswer reads one answer, which has to be 200 and to have a length.
func skipAnswer(from *bufio.Reader) error {
	line, err := from.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, statusOK) {
		return fmt.Errorf("the answer is %q", line)
	}
	for length := -1; ; {
		if line, err = from.ReadSlice('\n'); err != nil {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			if length < 0 {
				return errors.New("the answer has no Content-Length")
			}
			_, err := from.Discard(length)
			return err
		}
		if n := len(contentLength); len(line) > n && bytes.EqualFold(line[:n], contentLength) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[n:]))); err != nil {
				return err
			}
		}
	}
}

// TestLoadCounts: each request that is counted arrived whole, and one that is refused is an error.
func TestLoadCounts(t *testing.T) {
	t.Parallel()
	var served atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/hook" || r.ContentLength != 3 {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		served.Add(1)
		w.Header().Set("X-Long", string(bytes.Repeat([]byte("x"), 1000)))
		_, _ = w.Write(bytes.Repeat([]byte("a"), 1000))
	}))
	t.Cleanup(server.Close)
	began := time.Now()
	rate, err := load(server.Listener.Addr().String(), post("/hook", []byte("{ }")), 100*time.Millisecond)
	require.NoError(t, err)
	require.Positive(t, served.Load())
	require.LessOrEqual(t, rate*0.1, float64(served.Load()))
	require.GreaterOrEqual(t, rate*time.Since(began).Seconds(), float64(served.Load()))
	_, err = load(server.Listener.Addr().String(), post("/other", []byte("{ }")), 100*time.Millisecond)
	require.ErrorContains(t, err, "418")
}
