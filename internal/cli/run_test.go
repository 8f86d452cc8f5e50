package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/metacontroller"
)

// operetta runs a command line and returns its exit code and output.
func operetta(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runProgram(t, hooks.All(), args...)
}

// runProgram runs a command line of a program with these operators.
func runProgram(t *testing.T, controllers []metacontroller.Controller, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = Run(t.Context(), "operetta", controllers, Commands{About: "The server alone."}, args, Streams{strings.NewReader(""), &out, &errOut})
	return code, out.String(), errOut.String()
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestMistakesAreToldInOneLine gives each kind of mistake its exit code and a line that says
// what and where.
func TestMistakesAreToldInOneLine(t *testing.T) {
	config := write(t, "config.yaml", "listen: 127.0.0.1:0\nliste: x\n")
	for line, test := range map[string]struct {
		args []string
		code int
	}{
		`there is no command "srve": did you mean serve? (see operetta --help)`:                         {[]string{"srve"}, ExitUsage},
		`there is no command "render" (see operetta --help)`:                                            {[]string{"render"}, ExitUsage},
		"unknown flag: --x (see operetta serve --help)":                                                 {[]string{"serve", "--x"}, ExitUsage},
		"serve takes no arguments (see operetta serve --help)":                                          {[]string{"serve", "x"}, ExitUsage},
		`log-level "loud" is not supported: use debug, info, warn or error (see operetta serve --help)`: {[]string{"serve", "--log-level", "loud"}, ExitUsage},
		"--config: " + config + `, line 2: there is no setting "liste": see operetta serve --help`:      {[]string{"serve", "--config", config}, ExitFailed},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			code, _, stderr := operetta(t, test.args...)
			require.Equal(t, "operetta: "+line+"\n", stderr)
			require.Equal(t, test.code, code)
		})
	}
}

func TestVersionAndHelp(t *testing.T) {
	code, text, _ := operetta(t, "version")
	require.Equal(t, ExitDone, code)
	require.Regexp(t, `^operetta \S+ \(go1\.\d+.*\)\n$`, text)
	code, text, _ = operetta(t, "--help")
	require.Equal(t, ExitDone, code)
	for _, command := range []string{"serve", "config", "version"} {
		require.Contains(t, text, "\n  "+command)
	}
	require.NotContains(t, text, "simulate")
	require.Contains(t, text, "\nThe server alone.\n")
}

// untilServing is a log that stops the server which writes it as soon as that serves.
type untilServing struct {
	text bytes.Buffer
	stop func()
}

func (u *untilServing) Write(part []byte) (int, error) {
	defer func() {
		if bytes.Contains(u.text.Bytes(), []byte("serving")) {
			u.stop()
		}
	}()
	return u.text.Write(part)
}

func (u *untilServing) String() string { return u.text.String() }

func TestServeStopsInPeace(t *testing.T) {
	config := write(t, "config.yaml", "listen: 127.0.0.1:0\nmetrics-listen: nowhere\ndrain-delay: 0s\nmax-in-flight: 3\nlog-format: text\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := untilServing{stop: cancel}
	code := Run(ctx, "operetta", hooks.All(), Commands{}, []string{"serve", "--config", config, "--metrics-listen", "127.0.0.1:0"}, Streams{nil, nil, &log})
	require.Equal(t, ExitDone, code, log.String())
	require.Contains(t, log.String(), "msg=serving hooks=127.0.0.1:")
	require.Contains(t, log.String(), "msg=drained")
}
