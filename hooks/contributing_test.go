package hooks_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/testenv"
)

// fenced finds the blocks of the guide whose first line names a file.
var fenced = regexp.MustCompile("(?s)```(?:go|yaml)\n(?://|#) ([a-z/]+\\.(?:go|yaml))\n(.*?)```")

// TestGuideBuildsAndPlays builds the kind of the contributing guide, from the
// guide, and plays its sample to Ready.
func TestGuideBuildsAndPlays(t *testing.T) {
	if testenv.Kind() != "" {
		t.Skipf("only %s is tested", testenv.Kind())
	}
	if testing.Short() {
		t.Skip("it builds the program: make cover runs it")
	}
	t.Parallel()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	guide, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)

	folder := t.TempDir()
	overlay := map[string]string{}
	sample := ""
	for i, block := range fenced.FindAllSubmatch(guide, -1) {
		name := string(block[1])
		path := filepath.Join(folder, string(rune('a'+i))+filepath.Base(name))
		require.NoError(t, os.WriteFile(path, block[2], 0o600))
		if filepath.Ext(name) == ".yaml" {
			sample = path
		} else {
			overlay[filepath.Join(root, filepath.FromSlash(name))] = path
		}
	}
	require.Len(t, overlay, 3)
	require.NotEmpty(t, sample)
	replace, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	overlayFile := filepath.Join(folder, "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, replace, 0o600))

	run := exec.Command("go", "run", "-ldflags=-s -w", "-overlay", overlayFile, "./cmd/operetta", "simulate", "--vanish", "ConfigMap/hello", "--delete", sample)
	run.Dir = root
	output, err := run.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "= Greeting default/hello: Ready and quiet")
}
