package server

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCgroupLimit(t *testing.T) {
	for name, c := range map[string]struct {
		membership string
		files      map[string]string
		limit      int64
	}{
		"nothing":                         {},
		"version 2, in a container":       {"0::/\n", map[string]string{"memory.max": "536870912\n"}, 512 << 20},
		"version 2, on a host":            {"0::/system.slice/operetta.service\n", map[string]string{"system.slice/operetta.service/memory.max": "536870912\n"}, 512 << 20},
		"version 2, without a limit":      {"0::/a\n", map[string]string{"memory.max": "max\n", "a/memory.max": "max\n"}, 0},
		"version 1":                       {"4:memory:/pod/c\n0::/\n", map[string]string{"memory/pod/c/memory.limit_in_bytes": "536870912\n"}, 512 << 20},
		"version 1, in a container":       {"4:memory:/pod/c\n", map[string]string{"memory/memory.limit_in_bytes": "536870912\n"}, 512 << 20},
		"version 1, without a limit":      {"4:memory:/\n", map[string]string{"memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		"the least of several":            {"0::/a\n", map[string]string{"memory.max": "900000000\n", "a/memory.max": "800000000"}, 800_000_000},
		"a file that is not what it was":  {"0::/\n", map[string]string{"memory.max": "much\n"}, 0},
		"a membership that is not either": {"memory\n:::\n", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for path, text := range c.files {
				require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o600))
			}
			membership := filepath.Join(t.TempDir(), "cgroup")
			require.NoError(t, os.WriteFile(membership, []byte(c.membership), 0o600))
			limit, ok := cgroupLimitBelow(root, membership)
			require.Equal(t, c.limit, limit)
			require.Equal(t, c.limit > 0, ok)
		})
	}
}

// TestBudgetFollowsGOMEMLIMIT and the other way round, where only one is set.
func TestBudgetFollowsGOMEMLIMIT(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	debug.SetMemoryLimit(400 << 20)
	require.EqualValues(t, 240<<20, DetectBudget())
	LimitGo(1 << 30)
	require.EqualValues(t, 400<<20, debug.SetMemoryLimit(-1), "what is set stays")
	debug.SetMemoryLimit(1 << 20)
	require.EqualValues(t, LeastMemoryBudget, DetectBudget())
	debug.SetMemoryLimit(math.MaxInt64)
	LimitGo(240 << 20)
	require.EqualValues(t, 400<<20, debug.SetMemoryLimit(-1))
}
