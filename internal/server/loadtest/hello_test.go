package loadtest

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// firstFlight is a connection to which a client's first message is written, and from which
// it never reads an answer.
type firstFlight struct {
	net.Conn

	written []byte
}

func (c *firstFlight) Write(what []byte) (int, error) {
	c.written = append(c.written, what...)
	return len(what), nil
}

func (c *firstFlight) Read([]byte) (int, error) { return 0, io.EOF }

// TestHellosHoldLittle: crypto/tls keeps a client's first message, parsed, until the
// handshake has ended. 1,000 connections come with 30 KB of protocols of one letter, each
// of which takes 16 bytes, and send nothing more.
func TestHellosHoldLittle(t *testing.T) {
	const connections, long = 1000, 5 * time.Second
	p, _ := startTLS(t, nil)
	protocols := []string{"http/1.1"}
	for range 15_000 {
		protocols = append(protocols, "a")
	}
	hello := &firstFlight{}
	require.Error(t, tls.Client(hello, &tls.Config{InsecureSkipVerify: true, NextProtos: protocols}).HandshakeContext(t.Context())) //nolint:gosec // it sends one message and ends
	require.Greater(t, len(hello.written), 30_000)
	var group sync.WaitGroup
	var sent atomic.Int32
	began := time.Now()
	for range connections {
		group.Go(func() {
			for time.Since(began) < long {
				if sendAndWait(t.Context(), p.hooks, hello.written) {
					sent.Add(1)
				}
			}
		})
	}
	group.Wait()
	t.Logf("sent %d times", sent.Load())
	require.Positive(t, sent.Load())
	p.requireAlive(t)
}
