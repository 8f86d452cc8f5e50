package gotest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// module are the packages of a module whose tests pass and fail in different ways.
var module = map[string]string{
	"go.mod":         "module example.com/m\n\ngo 1.24\n",
	"fine/x_test.go": "package x\nimport \"testing\"\nfunc TestFine(t *testing.T) {}\n",
	"fails/x_test.go": `package x
import ("os"; "testing")
func TestFails(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Run("bad", func(t *testing.T) { t.Run("worse", func(t *testing.T) { t.Error("why") }) })
}
func TestFailsToo(t *testing.T) { t.Error("why"); os.Stderr.WriteString("a program's line\n"); t.Error("more\nsecond line") }
`,
	"panics/x_test.go":   "package x\nimport \"testing\"\nfunc TestPanics(t *testing.T) { panic(1) }\n",
	"compiles/x_test.go": "package x\nfunc none() { return 1 }\n",
	"hangs/x_test.go":    "package x\nimport \"testing\"\nfunc TestHangs(t *testing.T) { select {} }\nfunc init() { go func() { for { <-make(chan int) } }() }\n",
	"exits/x_test.go":    "package x\nimport (\"os\"; \"testing\")\nfunc TestMain(*testing.M) { os.Exit(3) }\n",
}

// run runs the script in the module, and returns its output and exit code.
func run(t *testing.T, args ...string) (string, int) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds and runs the tests of other modules: make cover")
	}
	script, err := filepath.Abs("gotest.sh")
	require.NoError(t, err)
	require.FileExists(t, script) // so that go test does not reuse the cached result of an older script
	folder := t.TempDir()
	for name, text := range module {
		path := filepath.Join(folder, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	command := exec.Command(script, args...)
	command.Dir = folder
	output, err := command.Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return string(output), command.ProcessState.ExitCode()
}

func TestFailedTestsAreNamedAtTheEnd(t *testing.T) {
	output, code := run(t, "-timeout=2s", "./...")
	require.Equal(t, 1, code)
	require.Regexp(t, `
What they said:
# example.com/m/compiles( \[[^\n]*)?
compiles/x_test.go:2:22: [^\n]*
--- FAIL: TestFails \([0-9.s]*\)
    --- FAIL: TestFails/bad \([0-9.s]*\)
        --- FAIL: TestFails/bad/worse \([0-9.s]*\)
            x_test.go:5: why
--- FAIL: TestFailsToo \([0-9.s]*\)
    x_test.go:7: why
    x_test.go:7: more
        second line
panic: test timed out after 2s
--- FAIL: TestPanics \([0-9.s]*\)
panic: 1[^\n]*

Failed tests:
  example.com/m/compiles \[build failed\]
  example.com/m/exits \(no test failed: see its output above\)
  example.com/m/fails TestFails/bad/worse
  example.com/m/fails TestFailsToo
  example.com/m/hangs TestHangs \(running at the timeout\)
  example.com/m/panics TestPanics
$`, output)
	require.Regexp(t, `(?m)^ok  \texample.com/m/fine\t`, output)
	require.Regexp(t, `(?m)^FAIL\texample.com/m/fails\t`, output)
	require.Regexp(t, `(?m)^FAIL$`, output)
}

func TestPassedTestsEndAsUsual(t *testing.T) {
	output, code := run(t, "./fine")
	require.Zero(t, code)
	require.Regexp(t, `^ok  \texample.com/m/fine\t[^\n]*\n$`, output)
}

// TestExitCodeIsThatOfGo runs a stand-in for go.
func TestExitCodeIsThatOfGo(t *testing.T) {
	program := filepath.Join(t.TempDir(), "go")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nexit 7\n"), 0o700))
	t.Setenv("GO", program)
	_, code := run(t, "./...")
	require.Equal(t, 7, code)
}
