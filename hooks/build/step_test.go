package build

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func runStep(shell []string, args ...string) (code int, output string) {
	command := exec.Command(shell[0], slices.Concat(shell[1:], []string{"-c", stepScript, "step"}, args)...)
	text, err := command.CombinedOutput()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		return failed.ExitCode(), string(text)
	}
	return 0, string(text)
}

// shells are that of this machine, and BusyBox's, where it is, as in an Alpine image.
func shells() [][]string {
	list := [][]string{{"/bin/sh"}}
	if path, err := exec.LookPath("busybox"); err == nil {
		list = append(list, []string{path, "sh"})
	}
	return list
}

func TestStepEndsAsItsProgramDoes(t *testing.T) {
	script := `echo "$0 $*"; exit 3`
	for _, test := range []struct {
		name   string
		args   []string
		code   int
		output string
	}{
		{"a limit that is kept", []string{"60", "", "echo", "a b", "$c"}, 0, "a b $c\n"},
		{"a failure within the limit", []string{"60", "stopAndFail", "/bin/sh", "-ec", script, "test", "a"}, 3, "test a\n"},
		{"a limit that is not kept", []string{"1", "", "sleep", "60"}, 124, ""},
		{"going on after a failure", []string{"0", "continue", "/bin/sh", "-ec", script, "test", "a"}, 0, "test a\nthe step failed with exit code 3, and onError is continue\n"},
		{"going on after a limit", []string{"1", "continue", "sleep", "60"}, 0, "the step failed with exit code 124, and onError is continue\n"},
		{"a program that ends well when it is stopped", []string{"1", "", "/bin/sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"}, 124, ""},
		{"a program that ignores that it is stopped", []string{"1", "", "/bin/sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"}, 124, ""},
		{"nothing to go on after", []string{"0", "continue", "echo", "a"}, 0, "a\n"},
	} {
		for _, shell := range shells() {
			t.Run(strings.Join(append(shell, test.name), " "), func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				code, output := runStep(shell, test.args...)
				require.Equal(t, test.code, code)
				require.Equal(t, test.output, output)
				require.Less(t, time.Since(began), 30*time.Second)
			})
		}
	}
}

// TestStepThatIsStoppedHasNotEndedWell deletes the Pod of a step that may fail.
func TestStepThatIsStoppedHasNotEndedWell(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	program := `trap 'echo stopped >>"$0"; exit 0' TERM; echo begun >"$0"; while :; do sleep 0.1; done`
	command := exec.Command("/bin/sh", "-c", stepScript, "step", "60", "continue", "/bin/sh", "-c", program, file)
	require.NoError(t, command.Start())
	require.Eventually(t, func() bool { text, _ := os.ReadFile(file); return string(text) == "begun\n" }, time.Minute, 10*time.Millisecond)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	require.Error(t, command.Wait())
	require.Equal(t, 143, command.ProcessState.ExitCode())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "begun\nstopped\n", string(text))
}
