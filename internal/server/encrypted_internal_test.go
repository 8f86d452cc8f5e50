package server

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestComputeEndsAtDeadlineAndDrop: a connection waits for a place among those that compute until
// its time is over or it is dropped, and one that is dropped keeps its place as long as it
// computes.
func TestComputeEndsAtDeadlineAndDrop(t *testing.T) {
	computing := make(chan struct{}, 1)
	connection := func() *limitedConn {
		client, server := net.Pipe()
		conn := &limitedConn{Conn: server, computing: computing, ended: make(chan struct{})}
		conn.written.Store(maxRetryBytes + 1) // the client's certificates come
		go func() { _, _ = client.Write(make([]byte, 100)) }()
		t.Cleanup(func() { _, _ = conn.Close(), client.Close() })
		return conn
	}
	read := func(conn *limitedConn) chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := conn.Read(make([]byte, 200))
			ended <- err
		}()
		return ended
	}
	first := connection()
	require.NoError(t, <-read(first))
	require.Len(t, computing, 1)
	require.NoError(t, first.drop())
	require.Len(t, computing, 1, "it is still computing")

	late := connection()
	require.NoError(t, late.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	require.ErrorIs(t, <-read(late), os.ErrDeadlineExceeded)
	dropped := connection()
	waiting := read(dropped)
	require.Eventually(t, func() bool { return dropped.read.Load() > 0 }, 10*time.Second, time.Millisecond)
	require.NoError(t, dropped.drop())
	require.ErrorIs(t, <-waiting, net.ErrClosed)

	next := connection()
	waiting = read(next)
	_ = first.Close() // by the goroutine that has computed
	require.NoError(t, <-waiting)
}
