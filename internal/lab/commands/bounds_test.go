//go:build linux

package commands

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// needsLoad leaves a test that measures a process to make load: under the race
// detector, or beside other tests, it would measure those.
func needsLoad(t *testing.T) {
	t.Helper()
	if os.Getenv("OPERETTA_TEST_LOAD") == "" {
		t.Skip("make load runs it")
	}
}

// binary builds the command.
func binary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "operetta")
	out, err := exec.Command("go", "build", "-o", path, "../../../cmd/operetta").CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// endless repeats a text for ever.
type endless string

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e) <= len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

const foreign = `apiVersion: model.github.com/v1
kind: ModelBox
metadata: {name: box}
spec: {image: "nginx:1"}
---
`

const template = `template: {metadata: {labels: {a: b}}, spec: {restartPolicy: POLICY, containers: [{name: a, image: b}]}}`

// TestWhatIsReadAndPlayedIsBounded gives the command what is small and stands for
// much, and what has no end. It says in one line what is wrong, in seconds, and
// with little memory.
func TestWhatIsReadAndPlayedIsBounded(t *testing.T) {
	needsLoad(t)
	const megabytes, seconds = 300, 600
	path := binary(t)

	recordings, empty := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(recordings, "podset", "sync"), 0o755))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(recordings, "podset", "sync", "zero.in.yaml")))
	always, never := strings.Replace(template, "POLICY", "Always", 1), strings.Replace(template, "POLICY", "Never", 1)

	for name, test := range map[string]struct {
		stdin io.Reader
		args  string
		says  string
	}{
		"a device without an end":         {nil, "render /dev/zero", "/dev/zero has more than 64 MiB: split it"},
		"the same for serve":              {nil, "serve --config /dev/zero", "--config: /dev/zero has more than 64 MiB: split it"},
		"the same in a recording":         {nil, "replay " + recordings, "replay: " + recordings + "/podset/sync/zero.in.yaml: " + recordings + "/podset/sync/zero.in.yaml has more than 64 MiB: split it"},
		"a standard input without an end": {endless("a: b\n"), "render -", "standard input has more than 64 MiB: split it"},
		"a folder":                        {nil, "render " + empty, "there is no <kind>/<hook>/<case>.in.yaml below " + empty},
		"an object of 4 MiB":              {strings.NewReader(foreign + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: " + strings.Repeat("x", 4<<20) + "}\n"), "simulate -", "standard input, document 2: Request entity too large: limit is 3145728"},
		"a PodSet of two billion":         {strings.NewReader("apiVersion: apps.jicki.cn/v1alpha1\nkind: PodSet\nmetadata: {name: big}\nspec: {size: 2000000000}\n"), "simulate -", "The PodSet \"big\" is invalid: spec.size: Invalid value: 2000000000"},
		"two billion replicas":            {strings.NewReader(strings.Replace(foreign, `"nginx:1"`, `"nginx:1", replicas: 2000000000`, 1)), "simulate -", "the simulated cluster is full: Deployment/box wants 2000000000 Pods, and there is room for 10000 objects: simulate something smaller"},
		"a StatefulSet of that size":      {strings.NewReader(foreign + "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: big}\nspec: {replicas: 2000000000, podManagementPolicy: Parallel, selector: {matchLabels: {a: b}}, " + always + "}\n"), "simulate -", "the simulated cluster is full: StatefulSet/big wants 2000000000 Pods"},
		"a Job of that size":              {strings.NewReader(foreign + "apiVersion: batch/v1\nkind: Job\nmetadata: {name: big}\nspec: {parallelism: 2000000000, completions: 2000000000, " + never + "}\n"), "simulate -", "the simulated cluster is full: Job/big wants 2000000000 Pods"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
			defer cancel()
			command := exec.CommandContext(ctx, path, strings.Fields(test.args)...)
			command.Stdin = test.stdin
			command.WaitDelay = time.Second // for a standard input without an end
			var stderr bytes.Buffer
			command.Stderr = &stderr
			_ = command.Run()
			require.NoError(t, ctx.Err(), "it takes more than %d seconds", seconds)
			require.Equal(t, 1, command.ProcessState.ExitCode(), stderr.String())
			require.True(t, strings.HasPrefix(stderr.String(), "operetta: "+test.says), stderr.String())
			require.Equal(t, 1, strings.Count(stderr.String(), "\n"))
			peak := command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
			t.Logf("%d MB at most, %s of CPU", peak, command.ProcessState.UserTime().Round(time.Millisecond))
			require.Less(t, peak, int64(megabytes))
		})
	}
}
