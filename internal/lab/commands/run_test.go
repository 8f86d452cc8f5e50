package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
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
		two + ":2: there is no custom resource of a kind that operetta knows, only b of a: write one of Build of ci.zt.vapi.cc/v1, DataService of d3os-product.com.d3os/v1, ModelBox of model.github.com/v1, MyJob of myjob.github.com/v1beta1, PodBuggerTool of apps.jicki.cn/v1alpha1, PodSet of apps.jicki.cn/v1alpha1": {[]string{"render", two}, 1},
		empty + " has no document": {[]string{"render", empty}, 1},
		stranger + ":2: there is no custom resource of a kind that operetta knows, only Pod of v1: write one of Build of ci.zt.vapi.cc/v1, DataService of d3os-product.com.d3os/v1, ModelBox of model.github.com/v1, MyJob of myjob.github.com/v1beta1, PodBuggerTool of apps.jicki.cn/v1alpha1, PodSet of apps.jicki.cn/v1alpha1": {[]string{"simulate", stranger}, 1},
		`The ModelBox "web" is invalid: spec.image: Invalid value: "": spec.image in body should be at least 1 chars long (` + noImage + ":4)":                                                                                                                                                                                     {[]string{"render", noImage}, 1},
		"it had no effect: vanish Service/other: there is no such object, but Service/sentiment":                                                                                                                                                                                                                                   {[]string{"simulate", sample, "--vanish", "Service/other"}, 1},
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
	hash := regexp.MustCompile(`operetta.dev/hash: .*|\n +namespace: default`) // it covers the namespace, which the golden has not
	code, whole, _ := operetta(t, "", "render", seed, "--now", "2026-01-02T03:04:05Z")
	require.Equal(t, 0, code)
	golden := readFile(t, "../../../testdata/modelbox/sync/seed-sample-is-asked-for-whole.out.yaml")
	require.Equal(t, hash.ReplaceAllString(golden, ""), hash.ReplaceAllString(whole, ""))
	code, data, _ := operetta(t, "", "render", seed, "--now", "2026-01-02T03:04:05Z", "-o", "json")
	require.Equal(t, 0, code)
	require.YAMLEq(t, whole, data)

	_, children, _ := operetta(t, "", "render", rollup, "--children-only")
	require.Equal(t, 2, strings.Count(children, "---\n"))
	require.Equal(t, 2, strings.Count(children, "\n  namespace: default\n"))
	require.NotContains(t, children, "conditions")
}

// TestRenderIsInTheNamespaceOfASimulation: the hash covers it, so that a cluster that nobody has changed differs in none.
func TestRenderIsInTheNamespaceOfASimulation(t *testing.T) {
	hashes := regexp.MustCompile(`operetta.dev/hash: ([0-9a-f]+)`)
	elsewhere := write(t, "box.yaml", strings.Replace(readFile(t, sample), "name: sentiment", "name: sentiment\n  namespace: shop", 1))
	for _, path := range []string{sample, elsewhere} {
		_, children, _ := operetta(t, "", "render", path, "--children-only")
		_, cluster, _ := operetta(t, "", "simulate", path, "-o", "yaml")
		found := hashes.FindAllString(children, -1)
		require.Len(t, found, 2)
		for _, hash := range found {
			require.Contains(t, cluster, hash)
		}
	}
	_, children, _ := operetta(t, "", "render", sample, "--children-only", "-n", "shop")
	_, same, _ := operetta(t, "", "render", elsewhere, "--children-only")
	require.Equal(t, same, children)
	code, _, stderr := operetta(t, "", "render", rollup, "-n", "shop")
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, "--namespace is for a custom resource: ")
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// TestALastLineWithoutALineFeed has its number, too.
func TestALastLineWithoutALineFeed(t *testing.T) {
	box := write(t, "box.yaml", "apiVersion: model.github.com/v1\nkind: ModelBox\nmetadata: {name: web}\nspec:\n  image: x\n  replicas: -1")
	for _, command := range []string{"render", "simulate"} {
		_, _, stderr := operetta(t, "", command, box)
		require.Contains(t, stderr, "("+box+":6)", command)
	}
}

func TestVersion(t *testing.T) {
	code, flag, _ := operetta(t, "", "--version")
	require.Equal(t, cli.ExitDone, code)
	_, command, _ := operetta(t, "", "version")
	require.Equal(t, command, flag)
	require.Regexp(t, `^operetta \S+ \(go`, flag)
}

// TestHelpHasEachCommandInAGroup: one without stands under "Additional Commands".
func TestHelpHasEachCommandInAGroup(t *testing.T) {
	_, help, _ := operetta(t, "", "--help")
	require.NotContains(t, help, "Additional Commands")
	for _, group := range groups() {
		require.Contains(t, help, "\n"+group.Title+"\n")
	}
}

// TestNamesOfKubectlAreTaken in an action, as in why.
func TestNamesOfKubectlAreTaken(t *testing.T) {
	_, want, _ := operetta(t, "", "simulate", sample, "--fail", "Deployment/sentiment@3", "--edit", `ModelBox/sentiment {"spec":{"replicas":2}}`, "--quota", "Secret")
	for _, names := range [][]string{{"deploy", "mb", "secrets"}, {"deployments.apps", "modelboxes.model.github.com", "secret"}, {"deployment", "modelbox", "Secret"}} {
		_, got, _ := operetta(t, "", "simulate", sample, "--fail", names[0]+"/sentiment@3", "--edit", names[1]+`/sentiment {"spec":{"replicas":2}}`, "--quota", names[2])
		require.Equal(t, want, got, names)
	}
	_, _, stderr := operetta(t, "", "simulate", sample, "--vanish", "svc/other")
	require.Contains(t, stderr, "it had no effect: vanish Service/other: there is no such object, but Service/sentiment")
}

func TestCompletion(t *testing.T) {
	dump := dumpOf(t, sample)
	for line, want := range map[string][]string{
		"simulate " + sample + " --fail |":                    {"Deployment/sentiment", "Service/sentiment", "ModelBox/sentiment"},
		"simulate " + sample + " --fail |deploy/sentiment oo": {"deploy/sentiment oom\t"},
		"simulate " + sample + " --crash |":                   {"ModelBox/sentiment\n:"},
		"simulate " + sample + " --quota |":                   {"Pod\n", "Deployment\n"},
		"simulate -o |":                                       {"text\njson\nyaml\nhtml\n"},
		"explore -o |":                                        {"text\njson\nyaml\n"},
		"diff -o |":                                           {"summary\ndiff\njson\nmarkdown\n"},
		"render --hook |":                                     {"sync\nfinalize\ncustomize\n"},
		"why -f " + dump + " |":                               {"modelbox/sentiment\n"},
		"why -f nowhere |":                                    {"modelbox/\n", "podset/\n"},
		"why --seen |all,":                                    {"all,pods\n"},
		"serve --kinds |podset,":                              {"podset,build\n"},
	} {
		words, last, _ := strings.Cut(line, " |")
		_, stdout, stderr := operetta(t, "", append(append([]string{"__complete"}, strings.Fields(words)...), last)...)
		for _, each := range want {
			require.Contains(t, stdout, each, line+stderr)
		}
	}
	_, stdout, _ := operetta(t, "", "__complete", "serve", "--kinds", "podset,")
	require.NotContains(t, stdout, "podset,podset")
}
