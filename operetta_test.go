package operetta_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fenced is a file in the documentation: its name is a comment in its first line.
var fenced = regexp.MustCompile("(?ms)^```(?:go|yaml)\n(?://|#) (\\S+)\n.*?^```$")

// TestProgramOfAnotherModule builds the program of docs/authors.md as it stands there, in
// a module of its own, and runs its tests and its commands.
func TestProgramOfAnotherModule(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program: make cover")
	}
	root, err := os.Getwd()
	require.NoError(t, err)
	text, err := os.ReadFile("docs/authors.md")
	require.NoError(t, err)
	dir := t.TempDir()
	files := fenced.FindAllSubmatchIndex(text, -1)
	require.Len(t, files, 6)
	for _, at := range files {
		block := text[at[0]:at[1]]
		content := block[regexp.MustCompile("^[^\n]*\n").FindIndex(block)[1] : len(block)-len("```")]
		path := filepath.Join(dir, filepath.FromSlash(string(text[at[2]:at[3]])))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, content, 0o600))
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

	// Its tests want the golden to be written, and pass then.
	golden := filepath.Join(dir, "testdata/rediscache/sync/ready-when-all-replicas-are.out.yaml")
	run("go", "test", "-c", "-mod=mod", "-ldflags=-s -w", "-o", "acme.test", ".")
	command := exec.Command("./acme.test", "-test.short")
	command.Dir = dir
	output, err := command.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "the case has no answer yet: run go test with -update")
	require.NotContains(t, string(output), "still owes")
	run("./acme.test", "-test.short", "-update")
	answer, err := os.ReadFile(golden)
	require.NoError(t, err)
	_, shown, found := strings.Cut(string(text), "```yaml\n# the end of the answer, as it is written\n")
	require.True(t, found)
	shown, _, _ = strings.Cut(shown, "```\n")
	require.True(t, strings.HasPrefix(shown, "status:\n") && strings.HasSuffix(string(answer), "\n"+shown), "docs/authors.md shows another status than:\n%s", answer)
	run("./acme.test", "-test.short")

	require.Contains(t, run("./acme", "simulate", "deploy/samples/rediscache.yaml"), "= RedisCache default/sessions: Ready and quiet after ")
	require.Contains(t, run("./acme", "explore", "deploy/samples/rediscache.yaml", "--schedules", "40"), "schedules: 40, found: 0")
	manifests := run("./acme", "manifests", "--prefix", "acme-", "--namespace", "acme", "--service", "acme") + run("./acme", "manifests", "--rbac", "--prefix", "acme-")
	require.NotContains(t, strings.ReplaceAll(manifests, "operetta.dev/hook-", ""), "operetta")
	require.Contains(t, manifests, "name: acme-rediscache\n")
	require.Contains(t, manifests, "name: acme-metacontroller-rediscache\n")
}
