package loadtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/testenv"
)

// TestDrainResetsNobody ends the server under load, several times. Until the drain delay is
// over, within which the cluster takes the Pod out of its Service, each request has an answer,
// on new connections and on kept ones.
func TestDrainResetsNobody(t *testing.T) {
	const delay = 2 * time.Second
	rounds := 2
	if testenv.Thorough() {
		rounds = 5
	}
	for round := range rounds {
		p := start(t, fmt.Sprint("--drain-delay=", delay))
		var answers [1000]atomic.Int32
		var stopped atomic.Bool
		var failed atomic.Int32
		var group sync.WaitGroup
		for i := range 60 {
			group.Go(func() {
				for !stopped.Load() {
					if err := session(p.hooks, visitor{once: i%3 == 0, isSlow: i%3 == 1}, &stopped, &answers); err != nil {
						failed.Add(1)
						t.Logf("round %d: %v", round, err)
						return
					}
				}
			})
		}
		time.Sleep(500 * time.Millisecond)
		require.NoError(t, p.Process.Signal(syscall.SIGTERM))
		time.Sleep(delay / 2)
		stopped.Store(true)
		group.Wait()
		require.NoError(t, <-p.ended)
		p.ended <- nil
		t.Logf("answers: %d x 200, %d x 503", answers[200].Load(), answers[503].Load())
		require.Positive(t, answers[200].Load())
		require.Zero(t, failed.Load())
	}
}

// visitor is a way to use a connection: for one request, for many that follow
// one another, or for some with pauses.
type visitor struct{ once, isSlow bool }

// session sends requests on one connection until it, or the server, closes it.
// What is wrong is an error.
func session(address string, v visitor, stopped *atomic.Bool, answers *[1000]atomic.Int32) error {
	conn, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	body, reader := podSet(1, 1, ""), bufio.NewReader(conn)
	for !stopped.Load() {
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := fmt.Fprintf(conn, "POST /podset/sync HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			return fmt.Errorf("sending: %w", err)
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return fmt.Errorf("reading the answer: %w", err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return fmt.Errorf("reading the answer's body: %w", err)
		}
		_ = response.Body.Close()
		answers[response.StatusCode].Add(1)
		if response.Close || v.once {
			return nil
		}
		if v.isSlow {
			// As every client, it looks whether the connection has been closed meanwhile.
			_ = conn.SetReadDeadline(time.Now().Add(time.Duration(300+rand.IntN(300)) * time.Millisecond))
			if _, err := reader.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
				return nil
			}
		}
	}
	return nil
}
