package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/cli"
)

const badPodSet = `# a file of two documents
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: apps.jicki.cn/v1alpha1
kind: PodSet
metadata:
  name: cache
  lables: {a: b}
spec:
  size: -1
  sise: 3
  template:
    metadata:
      annotations:
        example.com/a.b: x
    spec:
      containers:
      - name: a
        image: x
        imagePulPolicy: Always
`

// TestWhatTheAPIServerRefusesIsRefused by both commands, in the words of kubectl
// and with the lines.
func TestWhatTheAPIServerRefusesIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache.yaml")
	warnings := `warning: unknown field "metadata.lables" (PATH:10)
warning: unknown field "spec.sise" (PATH:13)
warning: unknown field "spec.template.spec.containers[0].imagePulPolicy" (PATH:22)
`
	for name, test := range map[string]struct{ from, to, want string }{
		"two reasons": {"", "", warnings + `operetta: The PodSet "cache" is invalid:
* spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0 (PATH:12)
* .spec.size: Invalid value: -1: should be a non-negative integer (PATH:12)
`},
		"one reason": {"size: -1", "size: 6000", warnings +
			`operetta: The PodSet "cache" is invalid: spec.size: Invalid value: 6000: spec.size in body should be less than or equal to 5000 (PATH:12)` + "\n"},
		"what is missing": {"size: -1", "other: 1", strings.Replace(warnings, `warning: unknown field "spec.sise"`, `warning: unknown field "spec.other" (PATH:12)
warning: unknown field "spec.sise"`, 1) + `operetta: The PodSet "cache" is invalid: spec.size: Required value (PATH:11)
`},
		"a key with dots": {"example.com/a.b: x", "example.com/a.b: 5", ""},
		"a rule":          {"size: -1", "size: 1\n  maxUnavailable: 200%", ""},
		"a name":          {"name: cache", "name: Cache", ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, []byte(strings.Replace(badPodSet, test.from, test.to, 1)), 0o600))
			var first string
			for _, command := range []string{"render", "simulate"} {
				code, stdout, stderr := operetta(t, "", command, path)
				require.Equal(t, cli.ExitFailed, code, stderr)
				if command == "render" {
					require.Empty(t, stdout)
				}
				stderr = strings.ReplaceAll(stderr, path, "PATH")
				if test.want != "" {
					require.Equal(t, test.want, stderr)
				}
				switch name {
				case "a key with dots":
					require.Contains(t, stderr, "(PATH:17)\n")
				case "a rule":
					require.Contains(t, stderr, `operetta: The PodSet "cache" is invalid: spec.maxUnavailable: Invalid value: "200%": use a number`)
					require.Contains(t, stderr, "(PATH:13)\n")
				case "a name":
					require.Contains(t, stderr, `* metadata.name: Invalid value: "Cache": a lowercase RFC 1123 subdomain`)
					require.Contains(t, stderr, "(PATH:9)\n")
				}
				if first == "" {
					first = stderr
				}
				require.Equal(t, first, stderr, "both commands say the same")
			}
		})
	}
}

// TestAGeneratedNameIsMadeUp: the same each time, and another for each document.
func TestAGeneratedNameIsMadeUp(t *testing.T) {
	const job = "apiVersion: myjob.github.com/v1beta1\nkind: MyJob\nmetadata: {generateName: mig-}\nspec: {template: {spec: {containers: [{name: a, image: a}]}}}\n"
	code, stdout, stderr := operetta(t, job, "render", "-", "--children-only")
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Contains(t, stdout, "\n  name: mig-00001\n")
	code, stdout, stderr = operetta(t, "", "simulate", write(t, "jobs.yaml", job+"---\n"+strings.Replace(job, "mig-", strings.Repeat("m", 60), 1)))
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Contains(t, stdout, "= MyJob default/mig-00001: Ready")
	require.Contains(t, stdout, "= MyJob default/"+strings.Repeat("m", 58)+"00002: Ready")
	_, stdout, _ = operetta(t, strings.Replace(job, "generateName", "name: own, generateName", 1), "render", "-", "--children-only")
	require.Contains(t, stdout, "\n  name: own\n")
}

// TestUnknownFieldsAreLeftOut, as the API server does, and told.
func TestUnknownFieldsAreLeftOut(t *testing.T) {
	path := write(t, "cache.yaml", strings.Replace(badPodSet, "size: -1", "size: 1", 1))
	wrong := write(t, "wrong.yaml", strings.Replace(badPodSet, "size: -1", "size: 1\n  maxUnavailable: 200%", 1))
	for _, command := range []string{"render", "simulate"} {
		_, _, says := operetta(t, "", command, wrong, "--validate=false")
		require.NotContains(t, says, "is invalid", "the hook says what it makes of it")
		require.NotContains(t, says, "would refuse")
		code, stdout, stderr := operetta(t, "", command, path)
		require.Equal(t, cli.ExitDone, code, stderr)
		require.Equal(t, 3, strings.Count(stderr, "warning: unknown field"))
		require.NotContains(t, stdout, "imagePulPolicy")
		code, unwarned, stderr := operetta(t, "", command, path, "--validate=false")
		require.Equal(t, cli.ExitDone, code)
		require.Empty(t, stderr)
		require.NotContains(t, unwarned, "imagePulPolicy", "the API server drops it in any case")
	}
}

// TestARequestIsHeldToTheDefinition but for one of a teardown, which nothing stops.
func TestARequestIsHeldToTheDefinition(t *testing.T) {
	request := "parent:\n  apiVersion: apps.jicki.cn/v1alpha1\n  kind: PodSet\n  metadata:\n    name: cache\n  spec:\n    size: -1\n    sise: 1\n"
	code, _, stderr := operetta(t, request, "render", "-")
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, stderr, `warning: unknown field "parent.spec.sise" (standard input:8)`)
	require.Contains(t, stderr, "* parent.spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0 (standard input:7)\n")
	for _, args := range [][]string{{"--hook", "finalize"}, {"--hook", "finalize", "--validate=false"}} {
		code, _, stderr = operetta(t, request, append([]string{"render", "-"}, args...)...)
		require.Equal(t, cli.ExitDone, code, stderr)
	}
}

// TestSimulateRefusesWhatARuleAboutAChangeRefuses in the second round.
func TestSimulateRefusesWhatARuleAboutAChangeRefuses(t *testing.T) {
	job := func(image string) string {
		return "apiVersion: APIVERSION\nkind: MyJob\nmetadata: {name: hello}\nspec:\n  template:\n    spec:\n      containers:\n      - name: c\n        image: " + image + "\n"
	}
	text, err := os.ReadFile("../../../deploy/samples/myjob.yaml")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if version, found := strings.CutPrefix(line, "apiVersion: "); found {
			job := strings.ReplaceAll(job("a")+"---\n"+job("b"), "APIVERSION", strings.TrimSpace(version))
			code, _, stderr := operetta(t, job, "simulate", "-")
			require.Equal(t, cli.ExitFailed, code)
			require.Contains(t, stderr, `operetta: The MyJob "hello" is invalid: spec.template: Invalid value: `)
			require.Contains(t, stderr, "(standard input:15)\n")
		}
	}
}

func TestLinesOfFields(t *testing.T) {
	text := "# first\r\na: {b: 1}\r\n---\r\n\r\nspec:\n  list:\n  - x: 1\n    'a.b[c]':\n      d: 2\n  base: &base\n    deep: 1\n  alias: *base\n"
	p := &program{Program: &cli.Program{Streams: cli.Streams{In: strings.NewReader(text)}}}
	documents, err := p.readDocuments("-")
	require.NoError(t, err)
	require.Equal(t, "standard input:2", documents[0].at("a.b"))
	for path, want := range map[string]string{
		"spec": "5", "spec.list[0].x": "7", "spec.list[0].a.b[c].d": "9", "spec.list[0].a.b[c].e": "8",
		"spec.list[1].x": "6", "spec.alias.deep": "11", "spec.none.below": "5", "": "5", "the object": "5", ".spec.list": "6",
	} {
		require.Equal(t, "standard input:"+want, documents[1].at(path), path)
	}
}

// TestManyUnknownFieldsAreNamedInTime, and so is one with a long name: a document is parsed
// once for all of them. A file of 66 KB took 78 s.
func TestManyUnknownFieldsAreNamedInTime(t *testing.T) {
	const head = "apiVersion: apps.jicki.cn/v1alpha1\nkind: PodSet\nmetadata: {name: a}\nspec:\n  size: 1\n"
	var many strings.Builder
	many.WriteString(head)
	for i := range 50_000 {
		fmt.Fprintf(&many, "  x%d: 1\n", i)
	}
	_, _, stderr := operetta(t, many.String(), "render", "-")
	require.Equal(t, mostWarnings+1, strings.Count(stderr, "warning: "))
	require.Contains(t, stderr, "warning: unknown field \"spec.x0\" (standard input:6)\n")
	require.Contains(t, stderr, "warning: 49900 more unknown fields (standard input, document 1)\n")

	long := strings.Repeat("a.", 500_000)
	_, _, stderr = operetta(t, head+"  ? "+long+"\n  : 1\n", "render", "-")
	require.Contains(t, stderr, "warning: unknown field \"spec.a.a.")
}
