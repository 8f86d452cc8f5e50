package server

import (
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConnectionsAreBounded: one that is too many is closed at once, and counts
// no more when it is gone.
func TestConnectionsAreBounded(t *testing.T) {
	var c connections
	open := func() (ours, theirs net.Conn) {
		ours, theirs = net.Pipe()
		c.note(ours, http.StateNew)
		return ours, theirs
	}
	first, _ := open()
	for range maxConnections - 1 {
		open()
	}
	excess, theirs := open()
	_, err := theirs.Read(make([]byte, 1))
	require.Error(t, err, "it is closed")
	c.note(excess, http.StateClosed)

	c.note(first, http.StateActive)
	c.note(first, http.StateClosed)
	require.Len(t, c.in(http.StateNew), maxConnections-1)
	again, theirAgain := open()
	go func() { _, _ = again.Write([]byte("x")) }()
	_, err = theirAgain.Read(make([]byte, 1))
	require.NoError(t, err, "it is open")
	require.Len(t, c.in(http.StateNew), maxConnections)
}
