package server

import (
	"bytes"
	"context"
	"log"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// heldWriter writes when it is released.
type heldWriter struct {
	bytes.Buffer

	release chan struct{}
}

func (w *heldWriter) Write(text []byte) (int, error) {
	<-w.release
	return w.Buffer.Write(text)
}

// followed returns a logger of net/http's that writes to a handler, and what ends it.
func followed(t *testing.T, handler slog.Handler) (logger *log.Logger, end func()) {
	t.Helper()
	lines := newErrorLog(slog.New(handler))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); lines.follow(ctx) }()
	return log.New(lines, "", 0), func() { stop(); <-ended }
}

func TestErrorLogNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &heldWriter{release: make(chan struct{})}
		logger, end := followed(t, slog.NewJSONHandler(to, nil))
		logger.Printf("http: TLS handshake error: %s", strings.Repeat("\x01", 50_000))
		synctest.Wait() // the log has it, and is not read
		for range 1000 {
			logger.Print("another")
		}
		close(to.release)
		time.Sleep(time.Minute)
		end()
		told := strings.Split(strings.TrimSpace(to.String()), "\n")
		require.Len(t, told, 1+mostErrorLines)
		require.Contains(t, told[0], `"level":"WARN","msg":"http: TLS handshake error: \\u0001`)
		require.Less(t, len(told[0]), 2*mostReason)
		require.Contains(t, told[1], `"msg":"another","notLogged":980}`)
		require.NotContains(t, told[2], "notLogged")
	})
}

func TestErrorLogIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var to bytes.Buffer
		logger, end := followed(t, slog.NewTextHandler(&to, nil))
		for range 10_000 { // in ten seconds
			logger.Print("line")
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		require.InDelta(t, 100, strings.Count(to.String(), "\n"), 5)
		logger.Print("last")
		end()
		require.True(t, strings.HasSuffix(to.String(), "msg=last\n"), "what waits is logged at the end")
	})
}
