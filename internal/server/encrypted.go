package server

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
)

const (
	// maxEncryptedConnections is what maxConnections is without TLS: a connection
	// costs about twice as much with it.
	maxEncryptedConnections = maxConnections / 2
	// mostBeforeRequest is how many bytes are read of a connection until the headers
	// of its first request have come. A handshake with a client certificate has some
	// 4 KB, the headers some 300 bytes, and one record may have 16 KB. By itself the
	// handshake would take 256 KB from anybody.
	mostBeforeRequest = 32 << 10
)

var errLongHandshake = errors.New("more than 32 KiB before the first request")

// encryptedListener accepts connections that speak TLS. Their handshakes are made
// where requests are read, by then they count as connections, and net/http gives
// them as long as it gives headers: readHeaderTimeout.
type encryptedListener struct {
	net.Listener

	config *tls.Config
}

// encrypted returns a listener whose connections speak TLS, where that is wanted.
func (c *Credentials) encrypted(listener net.Listener) net.Listener {
	if !c.isEncrypted() {
		return listener
	}
	return &encryptedListener{listener, &tls.Config{GetConfigForClient: c.serving.GetConfigForClient, MinVersion: tls.VersionTLS12}}
}

// Accept implements [net.Listener].
func (l *encryptedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return tls.Server(&unproven{Conn: conn}, l.config), nil
}

// unproven is a connection that has to come to its first request within a number of
// bytes.
type unproven struct {
	net.Conn

	read   atomic.Int64
	proven atomic.Bool
}

// NetConn returns the connection below.
func (u *unproven) NetConn() net.Conn { return u.Conn }

// Read implements [net.Conn].
func (u *unproven) Read(into []byte) (int, error) {
	if u.proven.Load() {
		return u.Conn.Read(into)
	}
	left := mostBeforeRequest - u.read.Load()
	if left <= 0 {
		return 0, errLongHandshake
	}
	n, err := u.Conn.Read(into[:min(int64(len(into)), left)])
	u.read.Add(int64(n))
	return n, err
}

// proveOnRequest lifts the bound from a connection when its first request has come.
func proveOnRequest(note func(net.Conn, http.ConnState)) func(net.Conn, http.ConnState) {
	return func(conn net.Conn, state http.ConnState) {
		if state == http.StateActive {
			if encrypted, ok := conn.(*tls.Conn); ok {
				if u, ok := encrypted.NetConn().(*unproven); ok {
					u.proven.Store(true)
				}
			}
		}
		note(conn, state)
	}
}
