package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// workflow is what GitHub runs.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		TimeoutMinutes int `json:"timeout-minutes"`
		Env            map[string]string
		Steps          []struct {
			Uses, Run string
			With, Env map[string]any
		}
	}
}

// TestWorkflowsRunWhatAPersonCanRun: their steps are targets of the Makefile or .ci/run,
// and their actions have a full version.
func TestWorkflowsRunWhatAPersonCanRun(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	paths, err := filepath.Glob("../.github/workflows/*")
	require.NoError(t, err)
	require.Len(t, paths, 2)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var w workflow
		require.NoError(t, yaml.Unmarshal(text, &w))
		require.Equal(t, map[string]string{"contents": "read"}, w.Permissions, "%s: more stands at the job", path)
		ran := 0
		for name, job := range w.Jobs {
			require.Positive(t, job.TimeoutMinutes, name)
			for _, step := range job.Steps {
				if step.Uses != "" {
					require.Empty(t, step.Run)
					require.Regexp(t, `^[a-z-]+/[a-z-]+@(v[0-9]+\.[0-9]+\.[0-9]+|[0-9a-f]{40})$`, step.Uses, path)
					continue
				}
				ran++
				if step.Run == ".ci/run" {
					info, err := os.Stat("../.ci/run")
					require.NoError(t, err)
					require.NotZero(t, info.Mode()&0o100, "it can be run")
					continue
				}
				target, isMake := strings.CutPrefix(step.Run, "make ")
				require.True(t, isMake, "%s runs %q", path, step.Run)
				require.Regexp(t, `^[a-z-]+$`, target, "no argument: a value of an event would be run by the shell")
				require.Regexp(t, regexp.MustCompile(`(?m)^`+target+`:.*## `), string(makefile))
				require.Contains(t, string(makefile), ".PHONY: "+target+"\n")
			}
		}
		require.Positive(t, ran, path)
	}
}
