package hooks_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/commands"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/operettatest"
)

// recordedVariable names the folder that TestRecordedStepsPassAsCases is about, in a process of its own.
const recordedVariable = "OPERETTA_TEST_RECORDED"

// TestRecordedStepsPassAsCases records a simulation of each sample, and holds each step to what a case
// is held to: authors begin with such cases.
func TestRecordedStepsPassAsCases(t *testing.T) {
	if dir := os.Getenv(recordedVariable); dir != "" {
		operettatest.RunWith(t, dir, invariants.All(), hooks.All()...)
		return
	}
	samples, err := filepath.Glob("../deploy/samples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	dir, recorded := t.TempDir(), 0
	for _, sample := range samples {
		if file, err := os.Stat(sample); testenv.Inner() && (err != nil || file.Size() > 600) {
			continue // many steps come of it
		}
		for _, apply := range []string{"dynamic-apply", "server-side-apply"} {
			if name := strings.TrimSuffix(filepath.Base(sample), ".yaml") + "-" + apply; testenv.Often(name, 5) {
				recorded += record(t, sample, apply, filepath.Join(dir, "testdata"), name)
			}
		}
	}
	require.Greater(t, recorded, 5)
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRecordedStepsPassAsCases$/./^(goldens|files_are_pairs|cases_.*|parents_can_be_stored|laws|customize_answers)$")
	if testing.Short() {
		command.Args = append(command.Args, "-test.short")
	}
	command.Env = append(os.Environ(), recordedVariable+"="+dir)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Logf("%d steps", recorded)
}

// record simulates a sample, and moves the cases that come of it to a folder, with a name before theirs.
// It returns how many there are.
func record(t *testing.T, sample, apply, dir, name string) int {
	t.Helper()
	steps := t.TempDir()
	var stdout, stderr bytes.Buffer
	code := commands.Run(t.Context(), "operetta", commands.Operators{Controllers: hooks.All(), Simulation: invariants.All()},
		[]string{"simulate", "--apply", apply, "--record", steps, sample}, cli.Streams{In: &bytes.Buffer{}, Out: &stdout, Err: &stderr})
	require.Zero(t, code, stderr.String())
	files, err := filepath.Glob(filepath.Join(steps, "*/*/step-*.yaml"))
	require.NoError(t, err)
	for _, file := range files {
		below, err := filepath.Rel(steps, file)
		require.NoError(t, err)
		to := filepath.Join(dir, filepath.Dir(below), name+"-"+filepath.Base(below))
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o700))
		require.NoError(t, os.Rename(file, to))
	}
	return len(files) / 2
}
