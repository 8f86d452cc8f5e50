package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plan is that of this project's documentation.
func plan(t *testing.T) []Planned {
	t.Helper()
	all, err := Read("../../..")
	require.NoError(t, err)
	planned, err := Plan(all, Rules)
	require.NoError(t, err)
	return planned
}

// TestEveryCommandIsRun fails for a command that no test runs and no rule excepts.
func TestEveryCommandIsRun(t *testing.T) {
	planned := plan(t)
	offline, live, elsewhere, nowhere := Of(planned, Offline), Of(planned, Live), Of(planned, Elsewhere), Of(planned, Nowhere)
	require.Len(t, planned, len(offline)+len(live)+len(elsewhere)+len(nowhere))
	t.Logf("%d commands: %d are run offline, %d live, %d by tests of their own, and %d are not run", len(planned), len(offline), len(live), len(elsewhere), len(nowhere))
	for _, c := range elsewhere {
		require.True(t, isTest(t, c.Rule.Reason), "%s: there is no test %s", c.At(), c.Rule.Reason)
	}
	for _, c := range nowhere {
		t.Logf("%s: not run, %s: %s", c.At(), c.Rule.Reason, c.Short())
	}
	require.Greater(t, len(planned), 150)

	// The targets exist, also where they are not run.
	makefile, err := os.ReadFile("../../../Makefile")
	require.NoError(t, err)
	for _, c := range planned {
		words := strings.Fields(c.Short())
		if words[0] != "make" || c.File == "docs/authors.md" { // which has a Makefile of its own
			continue
		}
		targets := words[1:]
		if targets[0] == "-C" { // in a folder
			targets = targets[2:]
		}
		for _, word := range targets {
			if !strings.Contains(word, "=") {
				require.Regexp(t, `(?m)^`+regexp.QuoteMeta(word)+`:`, string(makefile), c.At())
			}
		}
	}
}

// isTest reports whether a test of the module in e2e/ has this name.
func isTest(t *testing.T, name string) bool {
	t.Helper()
	files, err := filepath.Glob("../../../e2e/*/*_test.go")
	require.NoError(t, err)
	more, err := filepath.Glob("../../../e2e/*_test.go")
	require.NoError(t, err)
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}

func TestParse(t *testing.T) {
	const page = "# One\n```sh\n# only a comment\nkubectl get \\\n  pods  # of all\n\ncat > a <<'EOF'\n- \"x\n```y\nEOF\n" +
		"while read -r a; do\n  echo \"$a\"\ndone\n```\n```yaml\nkubectl: no\n```\n## Two\n- in a list\n\n  ```console\n  $ curl -d '{\n    \"a\": 1}' b | c\n  {}\n\n  $ operetta config\n  ```\n"
	found, err := parse("a.md", page)
	require.NoError(t, err)
	require.Equal(t, []Command{
		{File: "a.md", Line: 4, Heading: "One", Text: "kubectl get \\\n  pods  # of all"},
		{File: "a.md", Line: 7, Heading: "One", Text: "cat > a <<'EOF'\n- \"x\n```y\nEOF"},
		{File: "a.md", Line: 11, Heading: "One", Text: "while read -r a; do\n  echo \"$a\"\ndone"},
		{File: "a.md", Line: 22, Heading: "Two", Text: "curl -d '{\n  \"a\": 1}' b | c", Output: []string{"{}"}},
		{File: "a.md", Line: 26, Heading: "Two", Text: "operetta config"},
	}, found)
	require.Equal(t, "kubectl get pods", found[0].Short())

	for text, wrong := range map[string]string{
		"```sh\nkubectl get \\\n```\n":         "a.md:2: the command has no end",
		"```sh\nkubectl get pods\n":            "a.md: the last block has no end",
		"x\n```\nkubectl get pods\n```\n":      "a.md:2: a block that begins with a command says so",
		"```console\nNAME\n$ kubectl get\n```": "a.md:2: output before the first command",
	} {
		_, err := parse("a.md", text)
		require.ErrorContains(t, err, wrong)
	}
}

func TestPlan(t *testing.T) {
	shown := []Command{
		{File: "README.md", Line: 1, Text: "operetta config"}, {File: "README.md", Line: 2, Text: "operetta render - | kubectl diff -f -"},
		{File: "README.md", Line: 3, Text: "helm install"}, {File: "README.md", Line: 4, Text: "(kubectl get)"}, {File: "docs/build.md", Text: "operetta config"},
	}
	_, err := Plan(shown, nil)
	require.ErrorContains(t, err, "README.md:3: no test runs helm install")
	helm := Rule{File: "README.md", Command: "helm", Place: Nowhere, Reason: "why"}
	planned, err := Plan(shown, []Rule{helm})
	require.NoError(t, err)
	var places []Place
	for _, p := range planned {
		places = append(places, p.Place)
	}
	require.Equal(t, []Place{Offline, Live, Nowhere, Live, Live}, places)

	for wrong, rules := range map[string][]Rule{
		`"helm b" in README.md is for 1 commands, and begins 0`:   {helm, {File: "README.md", Command: "helm b"}},
		`"operetta" in README.md is for 1 commands, and begins 2`: {helm, {File: "README.md", Command: "operetta"}},
		"README.md:3: 2 rules are about helm install":             {helm, {File: "README.md", Command: "helm install"}},
		"gives no reason": {{File: "README.md", Command: "helm", Place: Nowhere}},
	} {
		_, err := Plan(shown, rules)
		require.ErrorContains(t, err, wrong)
	}
}

func TestCompare(t *testing.T) {
	shown := []string{"NAME    AGE", "cache   1m", "...", "http://127.0.0.1:4711 [...] 10 of 12"}
	for printed, same := range map[string]bool{
		"NAME AGE\ncache 2m3s\nmore\nhttp://127.0.0.1:1 [a, b] 10 of 12\n": true,
		"NAME AGE\ncache 2m3s\nhttp://127.0.0.1:1 [a, b] 10 of 12\n":       false,
		"NAME AGE\ncache 2m3s\nmore\nhttp://127.0.0.1:1 [a, b] 11 of 12\n": false,
		"NAME OLD\ncache 2m3s\nmore\nhttp://127.0.0.1:1 [a, b] 10 of 12\n": false,
	} {
		require.Equal(t, same, Compare(shown, printed) == nil, printed)
	}
	require.NoError(t, Compare([]string{`{"a":[...],`, `"b":1}`}, `{"a":[1,2],"b":1}`))
	require.NoError(t, Compare(nil, "anything"))
	require.NoError(t, Compare([]string{"1s (x10 over 4s)   Warning"}, "3s Warning"))
	require.NoError(t, Compare([]string{"1s (x10 over 4s)   Warning"}, "3s (x2 over 1m3s) Warning"))
	require.NoError(t, CompareLines([]string{"b  1m", "a"}, "a\nb 2s\nc\n"))
	require.Error(t, CompareLines([]string{"b", "d"}, "a\nb\nc\n"))
}

// The names of files are those that the page gives its blocks.
func TestFiles(t *testing.T) {
	files, err := Files("../../../docs/authors.md")
	require.NoError(t, err)
	names := []string{}
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	require.Equal(t, []string{"deploy/samples/rediscache.yaml", "main.go", "main_test.go", "rediscaches.yaml", "testdata/rediscache/customize/service-of-its-name-is-selected.in.yaml", "testdata/rediscache/sync/ready-when-all-replicas-are.in.yaml"}, names)
}
