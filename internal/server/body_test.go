package server_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/server"
)

// TestASenderThatFellBehindHearsOfIt although it reads only when it has sent all.
func TestASenderThatFellBehindHearsOfIt(t *testing.T) {
	slow(t)
	t.Parallel()
	e := start(t, func(o *server.Options) { o.AnswerTimeout = server.DefaultAnswerTimeout })
	const length = 12 << 20
	connection, err := net.Dial("tcp", e.hooks)
	require.NoError(t, err)
	defer func() { _ = connection.Close() }()
	_, err = fmt.Fprintf(connection, "POST /greeting/sync HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", length)
	require.NoError(t, err)
	time.Sleep(3700 * time.Millisecond) // the first part has three seconds, and a closing one half of a second
	_, err = connection.Write([]byte(strings.Repeat(" ", length)))
	require.NoError(t, err, "the connection is not closed while the body comes")
	requireSlow(t, connection, "the request body did not arrive in time: try again\n")
}

// TestABodyIsNotReadForLongerThanItMayWait: what comes too late to be answered
// is refused while the client still listens.
func TestABodyIsNotReadForLongerThanItMayWait(t *testing.T) {
	t.Parallel()
	e := start(t, func(o *server.Options) { o.AnswerTimeout = 5 * time.Second })
	connection, err := net.Dial("tcp", e.hooks)
	require.NoError(t, err)
	defer func() { _ = connection.Close() }()
	_, err = fmt.Fprintf(connection, "POST /greeting/sync HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", 60<<20)
	require.NoError(t, err)
	began := time.Now()
	go func() {
		piece := []byte(strings.Repeat(" ", 1<<20))
		for range 60 { // as fast as a part has to come
			if _, err := connection.Write(piece); err != nil {
				return
			}
			time.Sleep(150 * time.Millisecond)
		}
	}()
	requireSlow(t, connection, "too many requests at once: try again\n")
	require.Less(t, time.Since(began), 6*time.Second, "all of it would take nine")
}

// requireSlow reads the answer 429.
func requireSlow(t *testing.T, connection net.Conn, text string) {
	t.Helper()
	require.NoError(t, connection.SetReadDeadline(time.Now().Add(20*time.Second)))
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	require.Equal(t, http.StatusTooManyRequests, response.StatusCode)
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, text, line)
}
