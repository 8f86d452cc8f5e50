package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startShell starts a shell with a script and ends it with the test.
func startShell(t *testing.T, script string) *process {
	t.Helper()
	dir := t.TempDir()
	p, err := startProcess(Program{Name: "script", Path: "/bin/sh", Args: []string{"-c", script}}, dir, filepath.Join(dir, "script.log"))
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = p.leave().Process.Kill()
		<-p.ended
	})
	return p
}

// fileExists is a readiness check: the script creates the file in its directory.
func fileExists(p *process, name string) func(context.Context) error {
	return func(context.Context) error {
		_, err := os.Stat(filepath.Join(p.dir, name))
		return err
	}
}

func TestStartOfMissingProgramFails(t *testing.T) {
	_, err := startProcess(Program{Name: "ghost", Path: "/does/not/exist"}, t.TempDir(), filepath.Join(t.TempDir(), "log"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "start ghost")
}

func TestStopLetsProcessEndByItself(t *testing.T) {
	p := startShell(t, `trap 'echo bye; exit 0' TERM; touch ready; while :; do sleep 0.05; done`)
	require.NoError(t, p.waitReady(t.Context(), fileExists(p, "ready")))

	require.NoError(t, p.stop(10*time.Second))
	require.NoError(t, p.exit)
	require.Equal(t, "bye", p.logTail())
}

// TestAProcessIsRestarted when it ends by itself, and not when it is stopped.
func TestAProcessIsRestarted(t *testing.T) {
	dir := t.TempDir()
	p, err := startProcess(Program{Name: "script", Path: "/bin/sh", Args: []string{"-c", `echo start; exec sleep 60`}, Restarts: true}, dir, filepath.Join(dir, "script.log"))
	require.NoError(t, err)
	hasStarted := func(times int) func() bool {
		return func() bool { return strings.Count(p.logTail(), "start") == times }
	}
	require.Eventually(t, hasStarted(1), 10*time.Second, 10*time.Millisecond)
	first := p.last()
	require.NoError(t, first.Process.Kill())
	require.Eventually(t, hasStarted(2), 10*time.Second, 10*time.Millisecond)
	require.NoError(t, p.stop(10*time.Second))
	require.NotEqual(t, first.Process.Pid, p.last().Process.Pid)
	require.ErrorContains(t, p.stop(time.Second), "had ended before")
}

func TestStopKillsProcessAfterGrace(t *testing.T) {
	p := startShell(t, `trap '' TERM; touch ready; while :; do sleep 0.05; done`)
	require.NoError(t, p.waitReady(t.Context(), fileExists(p, "ready")))

	require.ErrorContains(t, p.stop(100*time.Millisecond), "was killed")
}

func TestStopReportsProcessThatEndedBefore(t *testing.T) {
	p := startShell(t, `exit 3`)
	<-p.ended

	require.ErrorContains(t, p.stop(time.Second), "exit status 3")
}

func TestWaitReadyNoticesThatProcessEnded(t *testing.T) {
	p := startShell(t, `echo out of luck >&2; exit 1`)

	err := p.waitReady(t.Context(), fileExists(p, "never"))
	require.ErrorContains(t, err, "it ended before it was ready: exit status 1")
	require.Equal(t, "out of luck", p.logTail())
}

func TestWaitReadyIsBounded(t *testing.T) {
	p := startShell(t, `exec sleep 60`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()

	cause := errors.New("still starting")
	err := p.waitReady(ctx, func(context.Context) error { return cause })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, cause)
}

func TestProcessDoesNotInheritEnvironment(t *testing.T) {
	t.Setenv("ETCD_NAME", "from-the-developer")
	p := startShell(t, `echo "name: $ETCD_NAME"; echo "home: $HOME"`)
	<-p.ended

	require.Equal(t, "name: \nhome: "+p.dir, p.logTail())
}

func TestLogTailIsShort(t *testing.T) {
	p := startShell(t, `for i in 1 2 3 4 5 6 7; do seq 10; done; echo last`)
	<-p.ended

	lines := strings.Split(p.logTail(), "\n")
	require.Len(t, lines, tailLines)
	require.Equal(t, "last", lines[len(lines)-1])
}
