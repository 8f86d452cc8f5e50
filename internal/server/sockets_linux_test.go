package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// queued returns how many bytes the kernel holds for the connections of a server
// that are yet to be read by it, or by its clients.
func queued(t *testing.T, address string) (received, unread int64) {
	t.Helper()
	_, digits, err := net.SplitHostPort(address)
	require.NoError(t, err)
	port, err := strconv.Atoi(digits)
	require.NoError(t, err)
	table, err := os.ReadFile("/proc/net/tcp")
	require.NoError(t, err)
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", port)) || fields[3] == "0A" {
			continue // not of the server, or its listener
		}
		var sending, receiving int64
		_, err := fmt.Sscanf(fields[4], "%X:%X", &sending, &receiving)
		require.NoError(t, err)
		received, unread = received+receiving, unread+sending
	}
	return received, unread
}

// TestAnswersThatNobodyReadsAreNotKept: what the kernel has taken of an answer is
// outside of the memory budget.
func TestAnswersThatNobodyReadsAreNotKept(t *testing.T) {
	const connections, most = 20, 200 << 10
	e := start(t, nil)
	small := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10)
		})
	}}
	body := request("much")
	for range connections {
		conn, err := small.Dial("tcp", e.hooks)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = fmt.Fprintf(conn, "POST /greeting/sync HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		require.NoError(t, err)
		_, err = io.ReadFull(conn, make([]byte, 100)) // of two megabytes
		require.NoError(t, err)
	}
	_, unread := queued(t, e.hooks)
	require.Positive(t, unread)
	require.Less(t, unread, int64(connections*most))
}

// TestBodiesThatNobodyReadsYetAreNotKept: the requests behind the first one on a
// connection wait in the kernel.
func TestBodiesThatNobodyReadsYetAreNotKept(t *testing.T) {
	// A whole segment of the loopback interface, of up to 64 KiB, is taken where there
	// is any room left.
	const connections, most = 20, 2 * 64 << 10
	e := start(t, nil)
	body := request("block")
	for range connections {
		conn, err := net.Dial("tcp", e.hooks)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = fmt.Fprintf(conn, "POST /greeting/sync HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		require.NoError(t, err)
		go func() { _, _ = conn.Write(bytes.Repeat([]byte("POST / HTTP/1.1\r\nHost: x\r\n\r\n"), 1<<20/29)) }()
	}
	require.Eventually(t, func() bool {
		received, _ := queued(t, e.hooks)
		return received >= connections*4<<10
	}, 5*time.Second, 10*time.Millisecond)
	time.Sleep(200 * time.Millisecond) // for more, if more were taken
	received, _ := queued(t, e.hooks)
	close(e.release)
	require.Less(t, received, int64(connections*most))
}

// TestALargeBodyComesAtOnce: where its memory has been granted, a large body is not
// held up by a small buffer, which the connection does not keep.
func TestALargeBodyComesAtOnce(t *testing.T) {
	slow(t)
	e := start(t, nil)
	conn, err := net.Dial("tcp", e.hooks)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	body := request("hi")
	const size = 40 << 20
	go func() {
		_, _ = fmt.Fprintf(conn, "POST /greeting/sync HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", size, body)
		_, _ = conn.Write(bytes.Repeat([]byte(" "), size-len(body)))
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.True(t, response.Close)
}

// TestHealthConnectionsAreBounded: the port for probes costs no more than the other
// one, and whoever keeps connections to it does not keep it from the kubelet.
func TestHealthConnectionsAreBounded(t *testing.T) {
	const connections, most = 600, 128
	e := start(t, nil)
	var open []net.Conn
	for i := range connections {
		conn, err := net.Dial("tcp", e.health)
		if err != nil {
			continue // it was refused at once
		}
		t.Cleanup(func() { _ = conn.Close() })
		open = append(open, conn)
		if i%2 == 0 {
			_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		}
	}
	require.Eventually(t, func() bool {
		left := 0
		for _, conn := range open {
			_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			_, err := io.Copy(io.Discard, conn)
			if os.IsTimeout(err) {
				left++
			}
		}
		return left <= most
	}, 10*time.Second, 10*time.Millisecond)
	time.Sleep(200 * time.Millisecond) // those that say nothing make room after 100
	for range 20 {
		require.Equal(t, http.StatusOK, e.probe(t, "/healthz").code)
	}
}
