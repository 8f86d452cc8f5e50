package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/cli"
)

const (
	sample = "../../../deploy/samples/modelbox.yaml"
	seed   = "../../../deploy/samples/seed/modelbox.yaml"
	rollup = "../../../testdata/modelbox/sync/finished-rollout-is-ready.in.yaml"
)

// ours are the operators of this repository.
func ours() Operators { return Operators{Controllers: hooks.All(), Simulation: invariants.All()} }

// operetta runs a command line and returns its exit code and output.
func operetta(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runProgram(t, ours(), stdin, args...)
}

// runProgram runs a command line of a program with these operators.
func runProgram(t *testing.T, operators Operators, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = Run(t.Context(), "operetta", operators, args, cli.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errOut})
	return code, out.String(), errOut.String()
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestMistakesAreToldInOneLine gives each kind of mistake its exit code and a
// line that says what and where.
func TestMistakesAreToldInOneLine(t *testing.T) {
	two := write(t, "two.yaml", "apiVersion: a\nkind: b\n---\napiVersion: a\nkind: b\n")
	broken := write(t, "broken.yaml", "a: [")
	empty := write(t, "empty.yaml", "# nothing\n")
	stranger := write(t, "stranger.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n")
	noImage := write(t, "no-image.yaml", "apiVersion: model.github.com/v1\nkind: ModelBox\nmetadata: {name: web}\nspec: {image: ''}\n")
	for line, test := range map[string]struct {
		args []string
		code int
	}{
		`there is no command "rendr": did you mean render? (see operetta --help)`:                                                                 {[]string{"rendr"}, 2},
		"render takes one file (see operetta render --help)":                                                                                      {[]string{"render"}, 2},
		"simulate takes at least one file (see operetta simulate --help)":                                                                         {[]string{"simulate"}, 2},
		`--hook "customize": myjob has the hooks [sync finalize] (see operetta render --help)`:                                                    {[]string{"render", "../../../deploy/samples/myjob.yaml", "--hook", "customize"}, 2},
		`--now "noon" is no time like 2026-01-02T15:04:05Z (see operetta render --help)`:                                                          {[]string{"render", sample, "--now", "noon"}, 2},
		`--fail: "x" is no object: write KIND/NAME, as in Deployment/web (see operetta simulate --help)`:                                          {[]string{"simulate", sample, "--fail", "x"}, 2},
		"--max-steps 0 is not between 1 and 10000 (see operetta simulate --help)":                                                                 {[]string{"simulate", sample, "--max-steps", "0"}, 2},
		`--apply "ssa" is neither dynamic-apply nor server-side-apply (see operetta simulate --help)`:                                             {[]string{"simulate", sample, "--apply", "ssa"}, 2},
		`--hook-url "ftp://x" has neither the scheme http nor https: write http://host:port or https://host:port (see operetta manifests --help)`: {[]string{"manifests", "--hook-url", "ftp://x"}, 2},
		"open nowhere.yaml: no such file or directory":                                                                                            {[]string{"render", "nowhere.yaml"}, 1},
		two + " has 2 documents, and render takes one: split the file":                                                                            {[]string{"render", two}, 1},
		empty + " has no document": {[]string{"render", empty}, 1},
		stranger + ": there is no custom resource of a kind that operetta knows":                                                               {[]string{"simulate", stranger}, 1},
		`The ModelBox "web" is invalid: spec.image: Invalid value: "": spec.image in body should be at least 1 chars long (` + noImage + ":4)": {[]string{"render", noImage}, 1},
		"it had no effect: vanish Service/other: there is no such object, but Service/sentiment":                                               {[]string{"simulate", sample, "--vanish", "Service/other"}, 1},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			code, _, stderr := operetta(t, "", test.args...)
			require.Equal(t, "operetta: "+line+"\n", stderr)
			require.Equal(t, test.code, code)
		})
	}
	code, _, stderr := operetta(t, "", "render", broken)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "broken.yaml, document 1 is neither YAML nor JSON")
	require.Equal(t, 1, strings.Count(stderr, "\n"))
}

func TestRender(t *testing.T) {
	code, whole, _ := operetta(t, "", "render", seed, "--now", "2026-01-02T03:04:05Z")
	require.Equal(t, 0, code)
	golden, err := os.ReadFile("../../../testdata/modelbox/sync/seed-sample-is-asked-for-whole.out.yaml")
	require.NoError(t, err)
	require.Equal(t, string(golden), whole)

	_, children, _ := operetta(t, "", "render", rollup, "--children-only")
	require.Equal(t, 2, strings.Count(children, "---\n"))
	require.Equal(t, 2, strings.Count(children, "\n  namespace: default\n"))
	require.NotContains(t, children, "conditions")
}
