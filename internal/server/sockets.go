package server

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Kernel buffers count against the memory of the process's cgroup, and are not
// in the memory budget. By default the kernel buffers up to 6 MB of a body that
// is not read yet, and up to 4 MB of an answer that its client does not read.
// It takes twice the values given here. Half of receiveBuffer must not be less
// than one segment of the loopback interface, or its sender stalls for tenths
// of a second again and again.
const (
	receiveBuffer = 32 << 10
	// largeReceiveBuffer is for a large body whose memory has been granted.
	largeReceiveBuffer = 256 << 10
	sendBuffer         = 64 << 10
	// mostUnsent is how much of the send buffer may wait for the client to
	// read. The rest is for segments in flight.
	mostUnsent = 16 << 10
	// mostSilence is after what time a client that does not read is given up.
	// It also applies to connections that are closed already.
	mostSilence = 10 * time.Second
)

// buffered is a connection with configurable buffers.
type buffered interface {
	net.Conn
	SetReadBuffer(bytes int) error
	SetWriteBuffer(bytes int) error
	SetLinger(seconds int) error
}

// socketOf returns the connection below TLS, if any, or nil if it is not a
// socket.
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

// holdLittle limits the kernel's buffers of a connection. Errors are ignored:
// the connection works without.
func holdLittle(conn net.Conn) {
	if socket := socketOf(conn); socket != nil {
		_ = socket.SetReadBuffer(receiveBuffer)
		_ = socket.SetWriteBuffer(sendBuffer)
		limitUnsent(socket)
	}
}

// drop closes a connection at once and discards unread data, which the kernel
// would keep for minutes.
func drop(conn net.Conn) {
	if socket := socketOf(conn); socket != nil {
		_ = socket.SetLinger(0)
	}
	if encrypted := limitedOf(conn); encrypted != nil {
		_ = encrypted.drop() // a farewell in TLS could wait for the client
		return
	}
	_ = conn.Close()
}

type connectionKey struct{}

// withConnection stores the connection in the context of its requests.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// connectionOf returns the connection of a request, or nil.
func connectionOf(r *http.Request) net.Conn {
	conn, _ := r.Context().Value(connectionKey{}).(net.Conn)
	return conn
}

// expectLarge raises the receive buffer for a large body. The connection is
// closed after the answer, because the kernel could otherwise buffer as much of
// the next request.
func expectLarge(w http.ResponseWriter, r *http.Request) {
	conn := connectionOf(r)
	if conn == nil {
		return
	}
	if socket := socketOf(conn); socket != nil {
		_ = socket.SetReadBuffer(largeReceiveBuffer)
		w.Header().Set("Connection", "close")
	}
}
