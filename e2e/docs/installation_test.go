//go:build unix

package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/docs/commands"
)

// TestInstallation installs Operetta with two shards, mutual TLS and metrics on the cluster of
// make cluster, by the commands of docs/operations.md.
func TestInstallation(t *testing.T) {
	t.Parallel() // both mostly wait
	const page, heading, kustomizationOf = "docs/operations.md", "Try it on this machine", "With mutual TLS and metrics"
	all, err := commands.Read(root)
	require.NoError(t, err)
	planned, err := commands.Plan(all, commands.Rules)
	require.NoError(t, err)
	var section []commands.Planned
	for _, c := range planned {
		if c.File == page && c.Heading == heading {
			section = append(section, c)
		}
	}
	require.NotEmpty(t, section)

	folder := t.TempDir()
	s := newCopy(t, filepath.Join(folder, "operetta"))
	require.NoError(t, os.CopyFS(filepath.Join(s.dir, "e2e"), os.DirFS(root+"/e2e")))
	text, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	_, above, found := strings.Cut(string(text), "\n### "+kustomizationOf+"\n")
	require.True(t, found)
	_, kustomization, found := strings.Cut(above, "```yaml\n")
	require.True(t, found)
	kustomization, _, _ = strings.Cut(kustomization, "```")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(kustomization), 0o600))

	s.shell, err = commands.StartShell(folder, s.env())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.shell.Close()) })
	down := false
	t.Cleanup(func() {
		if down {
			return
		}
		printed, _, err := s.shell.Run("cat operetta/bin/cluster/log; make -C operetta cluster-down", time.Minute)
		t.Log(printed, err)
	})
	player := &commands.Player{Shell: s.shell, Timeout: 10 * time.Minute, Log: func(c commands.Planned, printed string, took time.Duration) {
		t.Logf("%5.1fs  %s: %s", took.Seconds(), c.At(), c.Short())
		down = strings.Contains(c.Short(), "cluster-down")
	}}
	require.NoError(t, player.Play(section, nil))
}
