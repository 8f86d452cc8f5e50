package commands

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/cli"
)

func TestGenerateTellsWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"generate", "deploy"}, {"generate", "--chekc"}, {"generate", "--shards=99"}} {
		code, stdout, stderr := operetta(t, "", args...)
		require.Equal(t, cli.ExitUsage, code, args)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "see operetta generate --help")
	}
	code, stdout, stderr := operetta(t, "", "generate", "--check", "--root", t.TempDir())
	require.Equal(t, cli.ExitFailed, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "run it there, or name it with --root")
}
