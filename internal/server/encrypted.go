package server

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxHandshakeBytes limits what is read from a connection until the headers of
	// its first request have arrived, and from then on between any two pieces of data:
	// crypto/tls keeps up to 256 KB of a message that belongs to no request, from anybody
	// and at any time. A handshake with a client certificate has some 4 KB, the headers some
	// 300 bytes, and one record may have 16 KB.
	maxHandshakeBytes = 32 << 10
	// maxHelloBytes limits what is read until the server has answered, and twice as much
	// until it has shown its certificate, because a client may have to send its first
	// message again. crypto/tls keeps that until the handshake has ended, and 2 bytes of it
	// can take 24, a protocol of one letter for instance 16. Clients send some 2 KB.
	maxHelloBytes = 4 << 10
	// maxRetryBytes is more than the server writes to have the first message sent again,
	// and less than a message with a certificate.
	maxRetryBytes = 256
	// maxCertificateBytes limits what is read until the client's certificates have been
	// checked. Four with RSA keys of 4096 bits have 8 KB.
	maxCertificateBytes = 16 << 10
	// ordinaryHandshakeBytes is more than a client with one certificate or two sends before
	// its first request.
	ordinaryHandshakeBytes = 8 << 10
)

// maxPiece is how much is read of a body at a time. net/http fills it from several records
// where the body is chunked, and each of these can have 16 KiB: together with one that is
// read ahead that is still below maxHandshakeBytes.
const maxPiece = 8 << 10

// keyExchanges are those that cost the server 0.2 ms at most, once the client's first message
// has come: P-521 costs 2.5 ms and P-384 0.6 ms. Every client has X25519 or P-256.
var keyExchanges = []tls.CurveID{tls.X25519MLKEM768, tls.X25519, tls.CurveP256}

var errLongHandshake = errors.New("the client sends more TLS messages than a handshake has, and no data")

// encryptedListener accepts TLS connections. The handshake takes place when the first
// request is read: by then the connection is counted, and net/http applies
// readHeaderTimeout to the handshake.
type encryptedListener struct {
	net.Listener

	config    *tls.Config
	computing chan struct{}
}

// encrypted returns a listener for TLS, or the listener itself without a certificate.
func (c *Credentials) encrypted(listener net.Listener) net.Listener {
	if !c.isEncrypted() {
		return listener
	}
	config := &tls.Config{GetConfigForClient: c.configFor, MinVersion: tls.VersionTLS12}
	return &encryptedListener{listener, config, make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// configFor implements GetConfigForClient of [tls.Config].
func (c *Credentials) configFor(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	config, err := c.serving.GetConfigForClient(hello) // a copy
	conn, isLimited := hello.Conn.(*limitedConn)
	if err != nil {
		return nil, err
	}
	config.CurvePreferences = keyExchanges
	if !slices.Contains(hello.SupportedVersions, tls.VersionTLS13) {
		// crypto/tls calls VerifyConnection when another message has arrived, and keeps the
		// parsed certificates until then.
		config.VerifyPeerCertificate = checkRawPeerMemory
	}
	config.VerifyConnection = func(connection tls.ConnectionState) error {
		err := errors.Join(checkPeerMemory(connection), checkPeerKey(connection))
		if err == nil && isLimited {
			conn.checked.Store(true)
		}
		return err
	}
	return config, nil
}

// Accept implements [net.Listener].
func (l *encryptedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return tls.Server(&limitedConn{Conn: conn, computing: l.computing, ended: make(chan struct{})}, l.config), nil
}

// limitedConn is a connection from which little is read while it brings no data of a
// request. Before the first request, certificates of the client, and what has been read
// beyond ordinaryHandshakeBytes, are worked on, up to the next read or write, for as many
// connections at once as there are processors: a certificate of 8 KB takes 500 KB while it
// is parsed. Nobody holds a place while they wait for the other side, and nobody waits for
// one whose connection has been dropped or whose time for the handshake is over: those
// would be as many as come.
type limitedConn struct {
	net.Conn

	read      atomic.Int64 // since the last data
	written   atomic.Int64
	checked   atomic.Bool // the client's certificates, or that there are none
	requested atomic.Bool // whether a request has arrived
	computing chan struct{}
	computes  atomic.Bool               // has a place in computing
	deadline  atomic.Pointer[time.Time] // of reads, nil for none
	ended     chan struct{}             // closed when the connection is
	end       sync.Once
}

// NetConn returns the wrapped connection.
func (c *limitedConn) NetConn() net.Conn { return c.Conn }

// Read implements [net.Conn].
func (c *limitedConn) Read(into []byte) (int, error) {
	c.pause()
	left := c.most() - c.read.Load()
	if left <= 0 {
		return 0, errLongHandshake
	}
	n, err := c.Conn.Read(into[:min(int64(len(into)), left)])
	isLarge := c.read.Add(int64(n)) > ordinaryHandshakeBytes
	if n > 0 && !c.requested.Load() && (isLarge || c.bringsCertificates()) {
		if err := c.compute(); err != nil {
			return 0, err
		}
	}
	return n, err
}

// compute waits for a place, until the deadline of reads.
func (c *limitedConn) compute() error {
	var late <-chan time.Time
	if deadline := c.deadline.Load(); deadline != nil {
		timer := time.NewTimer(time.Until(*deadline))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case c.computing <- struct{}{}:
		c.computes.Store(true)
		return nil
	case <-c.ended:
		return net.ErrClosed
	case <-late:
		return os.ErrDeadlineExceeded
	}
}

// SetReadDeadline implements [net.Conn].
func (c *limitedConn) SetReadDeadline(at time.Time) error {
	c.noteDeadline(at)
	return c.Conn.SetReadDeadline(at)
}

// SetDeadline implements [net.Conn].
func (c *limitedConn) SetDeadline(at time.Time) error {
	c.noteDeadline(at)
	return c.Conn.SetDeadline(at)
}

func (c *limitedConn) noteDeadline(at time.Time) {
	if at.IsZero() {
		c.deadline.Store(nil)
		return
	}
	c.deadline.Store(&at)
}

// bringsCertificates reports whether what is read may be certificates of the client.
func (c *limitedConn) bringsCertificates() bool {
	return !c.checked.Load() && c.written.Load() > maxRetryBytes
}

// most returns how many bytes may be read as far as the handshake has come.
func (c *limitedConn) most() int64 {
	switch {
	case c.checked.Load():
		return maxHandshakeBytes
	case c.bringsCertificates():
		return maxCertificateBytes
	case c.written.Load() == 0:
		return maxHelloBytes
	default:
		return 2 * maxHelloBytes
	}
}

// Write implements [net.Conn].
func (c *limitedConn) Write(what []byte) (int, error) {
	c.pause()
	c.written.Add(int64(len(what)))
	return c.Conn.Write(what)
}

// Close implements [net.Conn].
func (c *limitedConn) Close() error {
	c.pause()
	return c.drop()
}

// drop closes the connection while another goroutine may use it, which keeps its place
// as long as it computes.
func (c *limitedConn) drop() error {
	c.end.Do(func() { close(c.ended) })
	return c.Conn.Close()
}

// pause leaves the place to another connection. It is called by the goroutine that
// reads.
func (c *limitedConn) pause() {
	if c.computes.CompareAndSwap(true, false) {
		<-c.computing
	}
}

// progress is called with each piece of data.
func (c *limitedConn) progress() {
	c.requested.Store(true)
	c.read.Store(0)
	c.pause()
}

// limitedOf returns what a connection with TLS reads from, or nil.
func limitedOf(conn net.Conn) *limitedConn {
	if encrypted, ok := conn.(*tls.Conn); ok {
		limited, _ := encrypted.NetConn().(*limitedConn)
		return limited
	}
	return nil
}

// progressOnRequest tells a connection that the headers of a request have arrived.
func progressOnRequest(note func(net.Conn, http.ConnState)) func(net.Conn, http.ConnState) {
	return func(conn net.Conn, state http.ConnState) {
		if limited := limitedOf(conn); limited != nil && state == http.StateActive {
			limited.progress()
		}
		note(conn, state)
	}
}
