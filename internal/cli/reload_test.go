package cli

import (
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestServeReadsItsLogLevelAgain: when the file changes, and at once on SIGHUP. What is
// wrong changes nothing, and the command line wins.
func TestServeReadsItsLogLevelAgain(t *testing.T) {
	t.Parallel()
	path := write(t, "config.yaml", "log-level: info\n")
	p := serveInProcess(t, "--config", path, "--drain-delay", "0s")
	set := func(text string) { require.NoError(t, os.Rename(write(t, "next.yaml", text), path)) }
	settled := func() { // an answer that changes nothing is told at debug
		response, err := http.Post(p.hooks+"/build/customize", "application/json", strings.NewReader(
			`{"parent":{"apiVersion":"ci.zt.vapi.cc/v1","kind":"Build","metadata":{"name":"a","namespace":"b"},"spec":{"url":"https://example.com/a.git"}},"controller":{}}`))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode)
	}
	hangUp := func() { require.NoError(t, p.Process.Signal(syscall.SIGHUP)) }
	const read, wrong = "configuration read", "the configuration was not taken over: all stays as it was"
	settled()
	set("log-level: debug\n")
	p.told(t, read, "logLevel", "DEBUG") // and nothing of the request before
	settled()
	p.told(t, "request", "level", "DEBUG")
	hangUp()
	p.told(t, read, "logLevelBefore", "DEBUG") // asked for, though it has not changed
	for text, says := range map[string]string{
		"log-level: loud\n":                 `log-level "loud" is not supported: use debug, info, warn or error`,
		"log-levels: info\n":                `there is no setting "log-levels"`,
		"log-level: [\n":                    "config.yaml",
		"log-level: info\ndrain-delay: 5\n": "drain-delay",
	} {
		set(text)
		hangUp()
		require.Equal(t, "ERROR", p.told(t, wrong, "error", says)["level"])
	}
	settled()
	p.told(t, "request", "level", "DEBUG") // as before

	set("log-level: error\nmax-body-bytes: 1Mi\n")
	hangUp()
	p.told(t, "the configuration has changed in settings that need a restart", "settings", "[max-body-bytes]")
	p.told(t, read, "logLevel", "ERROR")
	settled()
	set("")
	hangUp()
	p.told(t, read, "logLevel", "INFO") // the default, and nothing of the request before
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.waitFor(t, "drained")
	require.NoError(t, p.Wait())
}

func TestServeLogLevelOfTheCommandLineWins(t *testing.T) {
	t.Parallel()
	path := write(t, "config.yaml", "log-level: error\n")
	p := serveInProcess(t, someKinds, "--config", path, "--log-level", "info")
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	p.told(t, "configuration read", "logLevel", "INFO")
}

// TestServeWithoutAFileOutlivesAHangUp, which ends a process that does not expect it.
func TestServeWithoutAFileOutlivesAHangUp(t *testing.T) {
	t.Parallel()
	p := serveInProcess(t, someKinds)
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	p.told(t, "nothing to read again: the server runs without --config", "level", "WARN")
	require.Equal(t, http.StatusOK, status(t, p.health+"/metrics"))
	require.Equal(t, http.StatusNotFound, status(t, p.health+"/debug/pprof/"))
	profiled := serveInProcess(t, someKinds, "--pprof")
	require.Equal(t, http.StatusOK, status(t, profiled.health+"/debug/pprof/"))
}
