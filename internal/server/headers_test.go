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
		_, err = fmt.Fprintf(connection, "POST /greeting/sync HTTP/1.1\r\nHost: x\r\n%s%s", headers, end)
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
	response, err := http.ReadResponse(bufio.NewReader(send(lines(6<<10)+"Content-Length: 20000\r\n", "\r\n")), nil)
	require.NoError(t, err)
	_ = response.Body.Close()
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, response.StatusCode)

	const connections = 100
	requireLittle := func(what string, open func()) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.GC() // for what pools have kept
		runtime.ReadMemStats(&before)
		for range connections {
			open()
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		each := (int(after.HeapAlloc) - int(before.HeapAlloc)) / connections
		t.Logf("%s: %d bytes each", what, each)
		require.Less(t, each, 40<<10, "%s: they alone would have 60 KiB", what)
	}
	expect := func(connection net.Conn) {
		_, err := io.ReadFull(connection, make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n")))
		require.NoError(t, err, "the hook reads the body")
	}
	requireLittle("headers", func() {
		expect(send(lines(4<<10)+"Content-Length: 20000\r\nExpect: 100-continue\r\n", "\r\n"))
	})
	names := strings.NewReplacer(":\r\n", ",").Replace(lines(5 << 10))
	requireLittle("names of trailers", func() {
		expect(send("Transfer-Encoding: chunked\r\nExpect: 100-continue\r\nTrailer: "+names+"\r\n", "\r\n"))
	})
}
