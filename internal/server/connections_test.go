package server_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/server"
)

// TestDrainPartsFromIdleConnections: a client that sends its request at the
// moment of the end has an answer, and no broken connection.
func TestDrainPartsFromIdleConnections(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) { o.DrainDelay = 100 * time.Millisecond })
	idle := make([]net.Conn, 2) // one has never sent a request, and one has
	for i := range idle {
		connection, err := net.Dial("tcp", e.hooks)
		require.NoError(t, err)
		defer func() { _ = connection.Close() }()
		require.NoError(t, connection.SetDeadline(time.Now().Add(30*time.Second)))
		idle[i] = connection
	}
	kept := bufio.NewReader(idle[1])
	send := func(connection net.Conn) {
		_, err := io.WriteString(connection, "POST /salute/sync HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
		require.NoError(t, err)
	}
	send(idle[1])
	response, err := http.ReadResponse(kept, nil)
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, response.Body)
	require.NoError(t, response.Body.Close())
	require.False(t, response.Close)

	e.stop()
	for i, reader := range []*bufio.Reader{bufio.NewReader(idle[0]), kept} {
		_, err = reader.Peek(1) // the server has parted, and the request crosses that
		require.NoError(t, err)
		send(idle[i])
		response, err := http.ReadResponse(reader, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusRequestTimeout, response.StatusCode)
		require.True(t, response.Close)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, "draining: another replica will answer\n", string(text))
		// A request that came before the end of the stream may have an answer of its own.
		rest, err := io.ReadAll(reader)
		require.NoError(t, err, "the end of the stream, and no reset")
		if len(rest) > 0 {
			require.True(t, strings.HasPrefix(string(rest), "HTTP/1.1 "), string(rest))
		}
		require.NoError(t, idle[i].Close())
	}
	require.NoError(t, <-e.ended)
}
