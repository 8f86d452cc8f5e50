package operetta_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// fenced is a file in the documentation: its name is a comment in its first line.
var fenced = regexp.MustCompile("(?ms)^```(?:go|yaml)\n(?://|#) (\\S+)\n.*?^```$")

// TestProgramOfAnotherModule builds the program of docs/authors.md as it stands there, in
// a module of its own, and runs its commands.
func TestProgramOfAnotherModule(t *testing.T) {
	root, err := os.Getwd()
	require.NoError(t, err)
	text, err := os.ReadFile("docs/authors.md")
	require.NoError(t, err)
	dir := t.TempDir()
	files := fenced.FindAllSubmatchIndex(text, -1)
	require.Len(t, files, 3)
	for _, at := range files {
		block := text[at[0]:at[1]]
		content := block[regexp.MustCompile("^[^\n]*\n").FindIndex(block)[1] : len(block)-len("```")]
		require.NoError(t, os.WriteFile(filepath.Join(dir, string(text[at[2]:at[3]])), content, 0o600))
	}
	// The requirements of this module have all that go get would find.
	module, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	module = regexp.MustCompile(`(?m)^module .*$`).ReplaceAll(module, []byte("module acme.example.com/operators"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), module, 0o600))
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))

	run := func(name string, args ...string) string {
		t.Helper()
		command := exec.Command(name, args...)
		command.Dir = dir
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s %v: %s", name, args, output)
		return string(output)
	}
	run("go", "mod", "edit", "-require=github.com/operetta-dev/operetta@v0.0.0", "-replace=github.com/operetta-dev/operetta="+root)
	run("go", "build", "-mod=mod", "-ldflags=-s -w", "-o", "acme", ".")

	require.Contains(t, run("./acme", "simulate", "cache.yaml"), "= RedisCache default/sessions: Ready and quiet after ")
	require.Contains(t, run("./acme", "explore", "cache.yaml", "--schedules", "40"), "schedules: 40, found: 0")
	manifests := run("./acme", "manifests", "--prefix", "acme-", "--namespace", "acme", "--service", "acme") + run("./acme", "manifests", "--rbac", "--prefix", "acme-")
	require.NotContains(t, manifests, "operetta")
	require.Contains(t, manifests, "name: acme-rediscache\n")
	require.Contains(t, manifests, "name: acme-metacontroller-rediscache\n")
}
