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
		{"a limit that is kept", []string{"60", "", "run", "echo", "a b", "$c"}, 0, "a b $c\n"},
		{"a failure within the limit", []string{"60", "stopAndFail", "run", "/bin/sh", "-ec", script, "test", "a"}, 3, "test a\n"},
		{"a limit that is not kept", []string{"1", "", "run", "sleep", "60"}, 124, ""},
		{"going on after a failure", []string{"0", "continue", "run", "/bin/sh", "-ec", script, "test", "a"}, 0, "test a\nthe step failed with exit code 3, and onError is continue\n"},
		{"going on after a limit", []string{"1", "continue", "run", "sleep", "60"}, 0, "the step failed with exit code 124, and onError is continue\n"},
		{"a program that ends well when it is stopped", []string{"1", "", "run", "/bin/sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"}, 124, ""},
		{"a program that ignores that it is stopped", []string{"1", "", "run", "/bin/sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"}, 124, ""},
		{"nothing to go on after", []string{"0", "continue", "run", "echo", "a"}, 0, "a\n"},
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
	command := exec.Command("/bin/sh", "-c", stepScript, "step", "60", "continue", "run", "/bin/sh", "-c", program, file)
	require.NoError(t, command.Start())
	require.Eventually(t, func() bool { text, _ := os.ReadFile(file); return string(text) == "begun\n" }, time.Minute, 10*time.Millisecond)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	require.Error(t, command.Wait())
	require.Equal(t, 143, command.ProcessState.ExitCode())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "begun\nstopped\n", string(text))
}

// TestStepRunsWhenItsConditionsHold on results and on variables, whose values are never read as shell.
func TestStepRunsWhenItsConditionsHold(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"changed": "true\n", "lines": "a\nb\n\n", "empty": "", "odd": "$(exit 9) `x` '\" *"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	t.Setenv("TARGET", "a b")
	t.Setenv("limit", "theirs")
	result := func(name, operator string, values ...string) When {
		return When{Result: name, Operator: operator, Values: values}
	}
	env := func(name, operator string, values ...string) When {
		return When{Env: name, Operator: operator, Values: values}
	}
	for _, test := range []struct {
		when    []When
		skipped string
	}{
		{[]When{result("changed", "in", "false", "true")}, ""},
		{[]When{result("changed", "in", "false", "tru")}, "result changed has to be in 'false' 'tru'"},
		{[]When{result("changed", "notin", "true")}, "result changed has to be notin 'true'"},
		{[]When{result("lines", "in", "a\nb")}, ""},
		{[]When{result("empty", "in", "")}, ""},
		{[]When{result("odd", "in", "$(exit 9) `x` '\" *")}, ""},
		{[]When{result("nobody", "in", "true")}, "result nobody, which no step has written, has to be in 'true'"},
		{[]When{result("nobody", "notin", "true")}, ""},
		{[]When{env("TARGET", "in", "a", "a b")}, ""},
		{[]When{env("TARGET", "in", "a", `b\n%s`)}, `env TARGET has to be in 'a' 'b\n%s'`},
		{[]When{env("NOT_SET", "in", "run")}, "env NOT_SET has to be in 'run'"},
		{[]When{env("NOT_SET", "in", "")}, ""},
		{[]When{env("limit", "in", "theirs")}, ""},
		{[]When{env("TARGET", "notin", "run", "env"), result("changed", "in", "true")}, ""},
		{[]When{env("TARGET", "in", "a b"), result("changed", "in", "no"), env("TARGET", "in", "x")}, "result changed has to be in 'no'"},
	} {
		args := []string{"60", "continue"}
		for _, arg := range conditions(test.when) {
			args = append(args, strings.ReplaceAll(strings.Replace(arg, resultsPath, folder, 1), "$$", "$")) // as the kubelet does
		}
		want := "ran a b, theirs\n"
		if test.skipped != "" {
			want = "the step is skipped, because " + test.skipped + "\n"
		}
		for _, shell := range shells() {
			code, output := runStep(shell, append(args, "run", "/bin/sh", "-c", `echo "ran $TARGET, $limit"`)...)
			require.Zero(t, code)
			require.Equal(t, want, output, "%s %v", shell, test.when)
		}
	}
}
