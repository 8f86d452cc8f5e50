package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// What the kernel keeps for a connection counts as the process's, and is outside
// of the memory budget. By itself the kernel would take up to 6 MB of a body that
// is not read yet, and up to 4 MB of an answer that its client does not read: the
// server would have sent it and would know nothing of it. It takes twice what it
// is told here. Half of receiveBuffer would be less than one segment of the loopback
// interface, which makes its sender wait for tenths of a second again and again.
const (
	receiveBuffer = 32 << 10
	// largeReceiveBuffer is that of a large body whose memory has been granted.
	largeReceiveBuffer = 256 << 10
	sendBuffer         = 64 << 10
	// mostUnsent is how much of the send buffer may wait for the client to read. The
	// rest is for what is on its way.
	mostUnsent = 16 << 10
	// mostSilence is after what time a client is given up that does not take what
	// has been sent. It holds for connections that are closed already, too.
	mostSilence = 10 * time.Second
)

// buffered is a connection of which the buffers can be set.
type buffered interface {
	net.Conn
	SetReadBuffer(bytes int) error
	SetWriteBuffer(bytes int) error
	SetLinger(seconds int) error
}

// socketOf returns the connection below TLS, if there is TLS, or nil where it is
// of another kind.
func socketOf(conn net.Conn) buffered {
	for {
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			socket, _ := conn.(buffered)
			return socket
		}
		conn = outer.NetConn()
	}
}

// holdLittle makes the kernel hold little for a connection. Where it does not let
// itself be told, the connection is as good as without.
func holdLittle(conn net.Conn) {
	if socket := socketOf(conn); socket != nil {
		_ = socket.SetReadBuffer(receiveBuffer)
		_ = socket.SetWriteBuffer(sendBuffer)
		limitUnsent(socket)
	}
}

// drop closes a connection at once, with what its client has not read: the kernel
// would hold that for minutes.
func drop(conn net.Conn) {
	if socket := socketOf(conn); socket != nil {
		_ = socket.SetLinger(0)
	}
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn() // a farewell in TLS could wait for the client
	}
	_ = conn.Close()
}

type connectionKey struct{}

// withConnection makes a connection known to its requests.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// expectLarge has the kernel receive a large body without a pause. The connection
// is closed behind the answer: with such a buffer it could hold as much of what its
// client sends next.
func expectLarge(w http.ResponseWriter, r *http.Request) {
	conn, _ := r.Context().Value(connectionKey{}).(net.Conn)
	if conn == nil {
		return
	}
	if socket := socketOf(conn); socket != nil {
		_ = socket.SetReadBuffer(largeReceiveBuffer)
		w.Header().Set("Connection", "close")
	}
}
