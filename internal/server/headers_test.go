package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHeadersAreFewAndForgotten: a request that waits for its turn holds its
// headers no longer, and one with more of them than there is use for is refused.
func TestHeadersAreFewAndForgotten(t *testing.T) {
	e := start(t, nil)
	send := func(headers, end string) net.Conn {
		connection, err := net.Dial("tcp", e.hooks)
		require.NoError(t, err)
		t.Cleanup(func() { _ = connection.Close() })
		_, err = fmt.Fprintf(connection, "POST /greeting/sync HTTP/1.1\r\nHost: x\r\n%sContent-Length: 20000\r\n%s", headers, end)
		require.NoError(t, err)
		return connection
	}
	lines := func(size int) string {
		var text strings.Builder
		for i := 0; text.Len() < size; i++ {
			fmt.Fprintf(&text, "A%c%c%c:\r\n", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26)
		}
		return text.String()
	}
	response, err := http.ReadResponse(bufio.NewReader(send(lines(6<<10), "\r\n")), nil)
	require.NoError(t, err)
	_ = response.Body.Close()
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, response.StatusCode)

	const connections = 100
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // for what pools have kept
	runtime.ReadMemStats(&before)
	for range connections {
		connection := send(lines(4<<10)+"Expect: 100-continue\r\n", "\r\n")
		_, err := io.ReadFull(connection, make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n")))
		require.NoError(t, err, "the hook reads the body")
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int(after.HeapAlloc) - int(before.HeapAlloc)) / connections
	t.Logf("%d bytes each", each)
	require.Less(t, each, 40<<10, "the headers alone would have 60 KiB")
}
