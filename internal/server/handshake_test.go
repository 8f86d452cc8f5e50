package server_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/certtest"
	"github.com/operetta-dev/operetta/internal/server"
)

// record is a record of a TLS handshake.
func record(content []byte) []byte {
	return append([]byte{22, 3, 1, byte(len(content) >> 8), byte(len(content))}, content...)
}

// helloOf is the beginning of a ClientHello of a length.
func helloOf(length, sent int) []byte {
	return append([]byte{1, byte(length >> 16), byte(length >> 8), byte(length)}, make([]byte, sent-4)...)
}

// TestSlowHandshakes: a connection that does not finish its handshake is closed, and
// does not delay others.
func TestSlowHandshakes(t *testing.T) {
	slow(t)
	s := startSecured(t, withTLS, nil)
	began := time.Now()
	var open []net.Conn
	for i := range 200 {
		conn, err := net.Dial("tcp", s.hooks)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		open = append(open, conn)
		switch i % 3 { // the others send nothing
		case 0:
			_, _ = conn.Write([]byte{22, 3})
		case 1:
			_, _ = conn.Write(record(helloOf(1000, 100)))
		}
	}
	for range 5 {
		require.Equal(t, http.StatusOK, s.caller(t, nil, "").sync(t, "hi").code)
	}
	for _, conn := range open {
		require.NoError(t, conn.SetReadDeadline(began.Add(10*time.Second)))
		_, err := io.Copy(io.Discard, conn)
		require.False(t, os.IsTimeout(err), "it is still open")
	}
}

// TestHandshakesHoldLittle: the memory of unfinished handshakes is limited, and freed
// when the handshake times out.
func TestHandshakesHoldLittle(t *testing.T) {
	slow(t)
	s := startSecured(t, withTLS, nil)
	const connections = 100
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range connections {
		conn, err := net.Dial("tcp", s.hooks)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = conn.Write(record(helloOf(60_000, 4_000)))
		require.NoError(t, err)
	}
	time.Sleep(300 * time.Millisecond)
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int(after.HeapAlloc) - int(before.HeapAlloc)) / connections
	t.Logf("%d bytes each", each)
	require.Less(t, each, 60<<10)

	conn, err := net.Dial("tcp", s.hooks)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	began := time.Now()
	_, _ = conn.Write(record(helloOf(60_000, 16_000)))
	_, _ = conn.Write(record(make([]byte, 16_000)))
	_, _ = conn.Write(record(make([]byte, 16_000)))
	require.NoError(t, conn.SetReadDeadline(began.Add(10*time.Second)))
	_, err = io.Copy(io.Discard, conn)
	require.False(t, os.IsTimeout(err))
	require.Less(t, time.Since(began), 1500*time.Millisecond, "a first message of over 4 KiB is refused before its end")
}

// TestMessagesBetweenData: crypto/tls keeps messages of a handshake that come after it. A
// connection that brings more of these than a first handshake has is closed, whatever it is
// about to do.
func TestMessagesBetweenData(t *testing.T) {
	t.Parallel()
	post := func(text, headers string) string {
		return fmt.Sprintf("POST /greeting/sync HTTP/1.1\r\nHost: x\r\n%s\r\n%s", headers, text)
	}
	whole := func(text string) string {
		return post(request(text), fmt.Sprintf("Content-Length: %d\r\n", len(request(text))))
	}
	for name, c := range map[string]struct {
		files func(*server.CredentialFiles)
		sends string
		after string // that is answered before
	}{
		"before a request":     {withTLS, "", ""},
		"in its headers":       {withTLS, "POST /greeting/sync HTTP/1.1\r\n", ""},
		"in a body":            {withTLS, post("{", "Content-Length: 100000\r\n"), ""},
		"in a chunk":           {withTLS, post("ffff\r\n{", "Transfer-Encoding: chunked\r\n"), ""},
		"while a hook runs":    {withTLS, whole("block"), ""},
		"between two requests": {withTLS, whole("hi"), " 200 "},
		"no credentials":       {withCertificates, post("", "Content-Length: 100\r\n"), " 403 "},
		"and no hurry":         {withCertificates, post("", "Content-Length: 100\r\nExpect: 100-continue\r\n"), " 403 "},
		"no such hook":         {withTLS, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", " 404 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startSecured(t, c.files, nil)
			conn, err := certtest.DialRecords(s.hooks, &tls.Config{RootCAs: s.authority.Pool(), ServerName: "localhost"})
			require.NoError(t, err)
			defer func() { _ = conn.Close() }()
			if c.sends != "" {
				require.NoError(t, conn.WriteRecord(certtest.DataRecord, []byte(c.sends)))
			}
			if c.after != "" {
				line, err := bufio.NewReader(conn.TLS).ReadString('\n')
				require.NoError(t, err)
				require.Contains(t, line, c.after)
			} else {
				time.Sleep(200 * time.Millisecond) // it is read
			}
			began := time.Now()
			err = conn.WriteCertificate(250 << 10)
			close(s.release)
			if err == nil {
				require.NoError(t, conn.SetReadDeadline(began.Add(3*time.Second)))
				_, err = io.Copy(io.Discard, conn)
				require.False(t, os.IsTimeout(err), "it is still open")
			}
			require.Less(t, time.Since(began), time.Second)
		})
	}
}

// TestChunkedBodyOverTLS: nor does it apply to a body of which net/http reads a piece from
// several records.
func TestChunkedBodyOverTLS(t *testing.T) {
	t.Parallel()
	s := startSecured(t, withTLS, nil)
	for _, second := range []int{1349, 16_330, 16_370, 16_384} {
		t.Run(strconv.Itoa(second), func(t *testing.T) {
			t.Parallel()
			conn, err := certtest.DialRecords(s.hooks, &tls.Config{RootCAs: s.authority.Pool(), ServerName: "localhost"})
			require.NoError(t, err)
			defer func() { _ = conn.Close() }()
			body := request("hi")
			body += strings.Repeat(" ", 600_000-len(body))
			require.NoError(t, conn.WriteRecord(certtest.DataRecord, []byte("POST /greeting/sync HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")))
			time.Sleep(20 * time.Millisecond)
			text := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
			for i := 0; text != ""; i++ {
				size := 16 << 10
				if i == 1 {
					size = second
				}
				size = min(size, len(text))
				require.NoError(t, conn.WriteRecord(certtest.DataRecord, []byte(text[:size])))
				text = text[size:]
				if i < 3 {
					time.Sleep(20 * time.Millisecond)
				}
			}
			line, err := bufio.NewReader(conn.TLS).ReadString('\n')
			require.NoError(t, err)
			require.Contains(t, line, " 200 ")
		})
	}
}

// TestLargeBodyOverTLS: the limit of a handshake does not apply to a body.
func TestLargeBodyOverTLS(t *testing.T) {
	slow(t)
	s := startSecured(t, withTLS, nil)
	c := s.caller(t, nil, "")
	for range 3 { // on several connections: the server closes one after a large body
		got := c.sync(t, "hi")
		require.Equal(t, http.StatusOK, got.code)
		body := make([]byte, 8<<20)
		for i := range body {
			body[i] = ' '
		}
		got, _, err := c.ask(http.MethodPost, "/greeting/sync", request("hi")+string(body))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, got.code, got.body)
	}
}

// TestDrainOverTLS: idle connections get a 408 and the end of the stream, as without
// TLS, and an unfinished handshake does not delay the drain.
func TestDrainOverTLS(t *testing.T) {
	t.Parallel()
	for !drainOverTLS(t) {
		t.Log("the machine was too slow: once more")
	}
}

// drainOverTLS reports whether the connection without a request was young enough to
// be told of the drain: the server closes it after two seconds anyway.
func drainOverTLS(t *testing.T) (inTime bool) {
	s := startSecured(t, withTLS, func(o *server.Options) { o.DrainDelay = 200 * time.Millisecond })
	dial := func() *tls.Conn {
		conn, err := tls.Dial("tcp", s.hooks, &tls.Config{RootCAs: s.authority.Pool()})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
		return conn
	}
	kept := dial()
	reader := bufio.NewReader(kept)
	_, err := io.WriteString(kept, "POST /salute/sync HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
	require.NoError(t, err)
	response, err := http.ReadResponse(reader, nil)
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, response.Body)
	require.NoError(t, response.Body.Close())
	inFlight := make(chan answered, 1)
	go func() {
		got, _, _ := s.caller(t, nil, "").ask(http.MethodPost, "/greeting/sync", request("block"))
		inFlight <- got
	}()
	s.untilReached(t, inFlight)

	s.stop()
	time.Sleep(100 * time.Millisecond)
	silent, err := net.Dial("tcp", s.hooks)
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	time.Sleep(300 * time.Millisecond)
	dialed := time.Now()
	fresh := dial() // the request in flight keeps the listener open
	close(s.release)
	require.Equal(t, http.StatusOK, (<-inFlight).code, "it is answered")
	released := time.Now()
	for i, reader := range []*bufio.Reader{bufio.NewReader(fresh), reader} {
		response, err := http.ReadResponse(reader, nil)
		if errors.Is(err, io.ErrUnexpectedEOF) && i == 0 && time.Since(dialed) > 2*time.Second {
			return false
		}
		require.NoError(t, err)
		require.Equal(t, http.StatusRequestTimeout, response.StatusCode)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, "draining: another replica will answer\n", string(text))
		_, err = io.ReadAll(reader)
		require.NoError(t, err, "the end of the stream, and no reset")
	}
	_ = fresh.Close()
	_ = kept.Close()
	require.NoError(t, <-s.ended)
	require.Less(t, time.Since(released), 6*time.Second)
	return true
}
