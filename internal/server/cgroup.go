package server

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// cgroupLimit returns the memory limit of the cgroup that the process is in. A
// container sees its own cgroup as the root; elsewhere it is the path that
// /proc names.
func cgroupLimit() (int64, bool) { return cgroupLimitBelow("/sys/fs/cgroup", "/proc/self/cgroup") }

func cgroupLimitBelow(root, membership string) (int64, bool) {
	files := []string{filepath.Join(root, "memory.max"), filepath.Join(root, "memory", "memory.limit_in_bytes")}
	if file, err := os.Open(membership); err == nil {
		defer func() { _ = file.Close() }()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			// 4:memory:/path in version 1, and 0::/path in version 2
			switch id, rest, _ := strings.Cut(lines.Text(), ":"); {
			case id == "0":
				files = append(files, filepath.Join(root, strings.TrimPrefix(rest, ":"), "memory.max"))
			case strings.HasPrefix(rest, "memory:"):
				files = append(files, filepath.Join(root, "memory", strings.TrimPrefix(rest, "memory:"), "memory.limit_in_bytes"))
			}
		}
	}
	var least int64
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// "max", and the huge number of version 1, mean no limit.
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && limit > 0 && limit < MostMemoryBudget && (least == 0 || limit < least) {
			least = limit
		}
	}
	return least, least > 0
}
