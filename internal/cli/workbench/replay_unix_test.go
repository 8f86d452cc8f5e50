//go:build unix

package workbench

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplayWaitsForNoPipe: nobody may ever write into a pipe that is in a folder.
func TestReplayWaitsForNoPipe(t *testing.T) {
	dir := copied(t, "modelbox/sync")
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "modelbox/sync/pipe.in.yaml"), 0o600))
	code, _, errOut := operetta(t, "", "replay", dir)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "pipe.in.yaml is no regular file: remove it")
}
