package server

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMemoryFollowsTheContainer unless GOMEMLIMIT says otherwise.
func TestMemoryFollowsTheContainer(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	for text, want := range map[string]int64{"1073741824\n": 768 << 20, "max\n": math.MaxInt64, "9223372036854771712\n": math.MaxInt64, "": math.MaxInt64} {
		file := filepath.Join(t.TempDir(), "memory.max")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		debug.SetMemoryLimit(math.MaxInt64)
		limitMemory(filepath.Join(t.TempDir(), "absent"), file)
		require.Equal(t, want, debug.SetMemoryLimit(-1), text)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	require.Equal(t, int64(384<<20/10*6), DefaultMemoryBudget())
	debug.SetMemoryLimit(500 << 20)
	require.Equal(t, int64(300<<20), DefaultMemoryBudget())
	file := filepath.Join(t.TempDir(), "memory.max")
	require.NoError(t, os.WriteFile(file, []byte("1073741824\n"), 0o600))
	limitMemory(file)
	require.Equal(t, int64(500<<20), debug.SetMemoryLimit(-1), "it is set already")
}
