package commands

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/cli"
)

func TestNewTellsWhatItWroteAndWhatToRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "acme")
	code, stdout, stderr := operetta(t, "", "new", "--module", "example.com/acme/operators", dir)
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Contains(t, stdout, "created hooks/webapp/sync.go\n")
	require.Contains(t, stdout, "\nNext:\n  cd "+dir+"\n  go mod tidy\n  make generate golden\n  make test demo\n")
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	require.Contains(t, string(text), "replace github.com/operetta-dev/operetta => "+strconv.Quote(root)+"\n")

	code, stdout, stderr = operetta(t, "", "new", "RedisCache", "--root", dir)
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Contains(t, stdout, "created deploy/samples/rediscache.yaml\n")
	require.Contains(t, stdout, "changed hooks/hooks.go\nchanged hooks/invariants/invariants.go\n\nNext:\n  cd "+dir+"\n  make generate\n  make golden\n")

	require.NoError(t, os.Remove(filepath.Join(dir, "Makefile")))
	code, stdout, stderr = operetta(t, "", "new", "Redis", "--root", dir)
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Contains(t, stdout, "  operetta generate\n")
	require.Contains(t, stdout, "  operetta simulate deploy/samples/redis.yaml\n")
}

func TestNewTellsWrongUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"new takes one kind, as in new RedisCache":             {},
		"new --module takes one folder, which is new or empty": {"--module", "example.com/acme/operators"},
		"--root goes with a kind":                              {"--module", "example.com/acme/operators", "--root", "x", "y"},
		"--kind goes with --module":                            {"RedisCache", "--kind", "Redis"},
	} {
		code, stdout, stderr := operetta(t, "", append([]string{"new"}, args...)...)
		require.Equal(t, cli.ExitUsage, code, stderr)
		require.Empty(t, stdout)
		require.Contains(t, stderr, want)
	}
	code, stdout, stderr := operetta(t, "", "new", "RedisCache", "--root", t.TempDir())
	require.Equal(t, cli.ExitFailed, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "has no go.mod")
}

func TestNewAndGenerateAreFound(t *testing.T) {
	code, stdout, stderr := operetta(t, "", "--help")
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Contains(t, stdout, "  new         Add a kind to this project, or start a module of operators\n")
	require.Contains(t, stdout, "  generate    Write the CRDs")
	code, stdout, stderr = operetta(t, "", "__complete", "ne")
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Contains(t, stdout, "new\tAdd a kind")
}
