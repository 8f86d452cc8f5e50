package server_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sendThenRead posts to the toy's sync hook on a bare connection. The head are
// the remaining header lines.
func sendThenRead(t *testing.T, address, head string, body []byte) answered {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer func() { _ = connection.Close() }()
	require.NoError(t, connection.SetDeadline(time.Now().Add(30*time.Second)))
	_, err = io.WriteString(connection, "POST /greeting/sync HTTP/1.1\r\nHost: x\r\n"+head)
	require.NoError(t, err)
	_, err = connection.Write(body)
	require.NoError(t, err)
	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, nil)
	require.NoError(t, err)
	if response.StatusCode == http.StatusContinue {
		response, err = http.ReadResponse(reader, nil)
		require.NoError(t, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return answered{response.StatusCode, response.Header, string(text)}
}
