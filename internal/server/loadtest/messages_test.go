package loadtest

import (
	"crypto/tls"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/certtest"
)

// TestMessagesHoldLittle: crypto/tls keeps 256 KB of a message that comes after the
// handshake, until its end. 1,000 connections send one with no end again and again: instead
// of the body of a request that is refused, and after one that was answered; and as much of
// it as is read.
func TestMessagesHoldLittle(t *testing.T) {
	const connections, long = 1000, 6 * time.Second
	const refused = "POST /podset/sync HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n"
	const answered = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		request string
		length  int
	}{"refused": {refused, 250 << 10}, "answered": {answered, 250 << 10}, "as much as is read": {answered, 30 << 10}} {
		t.Run(name, func(t *testing.T) {
			var clients *certtest.Authority
			if c.request == refused {
				clients = certtest.NewAuthority(t, "clients")
			}
			p, authority := startTLS(t, clients)
			config := &tls.Config{RootCAs: authority.Pool(), ServerName: "localhost"}
			began := time.Now()
			var sent atomic.Int32
			var group sync.WaitGroup
			for i := range connections {
				group.Go(func() {
					time.Sleep(time.Duration(i) * 2 * time.Second / connections)
					for time.Since(began) < long {
						if sendCertificate(p.hooks, config, c.request, c.length, began.Add(long)) {
							sent.Add(1)
						}
					}
				})
			}
			group.Wait()
			t.Logf("sent %d times", sent.Load())
			require.Positive(t, sent.Load())
			p.requireAlive(t)
		})
	}
}

// sendCertificate connects, sends a request and so much of the message, and waits until the server
// closes the connection. It reports whether the request was sent.
func sendCertificate(address string, config *tls.Config, request string, length int, until time.Time) bool {
	conn, err := certtest.DialRecords(address, config)
	if err != nil {
		time.Sleep(100 * time.Millisecond)
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(until)
	if conn.WriteRecord(certtest.DataRecord, []byte(request)) != nil {
		return false
	}
	if answer := make([]byte, 1000); strings.HasPrefix(request, "GET") {
		_, _ = conn.TLS.Read(answer)
	}
	_ = conn.WriteCertificate(length)
	_, _ = io.Copy(io.Discard, conn)
	return true
}
