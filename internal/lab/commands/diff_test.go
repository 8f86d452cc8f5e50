package commands

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/lab/dump/dumptest"
	"github.com/operetta-dev/operetta/internal/lab/player"
)

// dumped returns the path of a dump of a converged ModelBox.
func dumped(t *testing.T) string {
	t.Helper()
	world := dumptest.Converged(t, player.Options{Controllers: hooks.All(), Call: player.Direct(hooks.All()...)}, sample)
	return write(t, "dump.json", string(dumptest.List(t, world.Objects())))
}

func TestDiffHasAnExitCodeForEachOutcome(t *testing.T) {
	path := dumped(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	box, err := os.ReadFile(sample)
	require.NoError(t, err)
	another := write(t, "another.yaml", strings.Replace(string(box), "nginx:1.27-alpine", "nginx:1.28", 1))
	invalid := write(t, "invalid.yaml", strings.Replace(string(box), "replicas: 3", "replicas: -3", 1))
	typo := write(t, "typo.yaml", strings.Replace(string(box), "replicas: 3", "replica: 3", 1))
	fresh := write(t, "fresh.yaml", strings.Replace(string(box), "name: sentiment", "name: fresh", 1))
	stranger := write(t, "stranger.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n")
	withoutPods := write(t, "podless.json", strings.ReplaceAll(string(text), `"kind": "Pod"`, `"kind": "Other"`))
	withoutServices := write(t, "some.json", strings.ReplaceAll(string(text), `"kind": "Service"`, `"kind": "Other"`))
	for _, test := range []struct {
		stdin, args, out, err string
		code                  int
	}{
		{"", path, "0 of 1 custom resource would change\n", "", 0},
		{string(text), "", "0 of 1 custom resource would change\n", "", 0},
		{string(text), "-", "0 of 1 custom resource would change\n", "", 0},
		{"", path + " --with " + another, "~ Deployment/sentiment rolls\n-     spec.template.spec.containers[sentiment].image: nginx:1.27-alpine\n", "", 3},
		{"", path + " --with " + another + " -o summary", "rolls     Deployment   1         1\n", "", 3},
		{"", path + " --with " + another + " -o markdown", "```diff\n@@ ModelBox default/sentiment @@\n~ Deployment/sentiment rolls\n", "", 3},
		{"", path + " --with " + another + " --exit-code=false", "~ Deployment/sentiment rolls\n", "", 0},
		{"", path + " --with " + another + " --ignore .spec.template.spec.containers[].image --ignore status", "1 object would be written without a difference to tell", "", 0},
		{"", path + " --with " + fresh, "+ Deployment/fresh created\n+ Service/fresh created\n", "", 3},
		{"", path + " --with " + invalid, "", "operetta: The ModelBox \"sentiment\" is invalid:\n* spec.replicas: Invalid value: -3", 4},
		{"", path + " --with " + typo, "1 of 1 custom resource would change\n", `warning: unknown field "spec.replica" (` + typo + `:`, 3},
		{"", path + " --with " + stranger, "", stranger + ":2: there is no custom resource of a kind that operetta knows, only Pod of v1", 1},
		{"", path + " --with nowhere.yaml", "", "open nowhere.yaml", 1},
		{"", withoutServices, "? Service/sentiment not seen: it is desired, and the dump has no Service", "nothing would change, but not everything could be compared", 1},
		{"", withoutPods, "? not compared: its operator reads Pod.v1", "nothing would change, but not everything could be compared", 1},
		{"", withoutServices + " --seen pods,svc,services", "+ Service/sentiment created\n", "", 3},
		{"", path + " --apply server-side-apply", "", "print it with kubectl get --show-managed-fields", 1},
		{"", path + " --apply ssa", "", `--apply "ssa" is neither`, 2},
		{"", path + " -o text", "", `--output "text" is not supported: use summary, diff, json or markdown`, 2},
		{"", path + " --now noon", "", `--now "noon" is no time`, 2},
		{"", path + " " + path, "", "diff takes one file: concatenate several", 2},
		{"", path + " --base " + path, "", "--base: " + path + " is no report: write it with the older build", 1},
		{"", "nowhere.json", "", "open nowhere.json: no such file", 1},
		{"", "-", "", "standard input has no object: write kubectl get", 1},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", "-", "", "standard input has no custom resource of a kind that operetta knows: write kubectl get -A -o json ", 1},
		{`{"kind": "List", "items": [{`, "-", "", "standard input is cut off after", 1},
	} {
		code, out, errOut := operetta(t, test.stdin, append([]string{"diff"}, strings.Fields(test.args)...)...)
		require.Equal(t, test.code, code, "%s\n%s%s", test.args, out, errOut)
		require.Contains(t, out, test.out, test.args)
		require.Contains(t, errOut, test.err, test.args)
		if test.err == "" {
			require.Empty(t, errOut, test.args)
		}
	}
}

func TestDiffFromABase(t *testing.T) {
	path := dumped(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	drifted := write(t, "drifted.json", strings.Replace(string(text), `"replicas": 3,`, `"replicas": 7,`, 1))
	code, base, _ := operetta(t, "", "diff", drifted, "-o", "json")
	require.Equal(t, 3, code)
	var report struct{ Parents []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(base), &report))
	require.Equal(t, "sentiment", report.Parents[0]["name"], "by parent")
	code, out, errOut := operetta(t, "", "diff", drifted, "--base", write(t, "base.json", base))
	require.Zero(t, code, errOut)
	require.Contains(t, out, "0 of 1 custom resource would change; 1 difference as the base says, too\n")
	code, _, errOut = operetta(t, "", "diff", path, "--base", write(t, "base.json", base))
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "is a report on another dump")
}

// TestDiffOfAHostileDump: whoever writes objects does not control the terminal of who compares them.
func TestDiffOfAHostileDump(t *testing.T) {
	text, err := os.ReadFile(dumped(t))
	require.NoError(t, err)
	// The Deployment comes first, and differs then from the ModelBox.
	hostile := strings.Replace(string(text), `"nginx:1.27-alpine"`, `"\u001b[2J\u202e`+"```"+`\n# forged\n"`, 1)
	for _, form := range []string{"summary", "diff", "markdown", "json"} {
		code, out, errOut := operetta(t, hostile, "diff", "-o", form)
		require.Equal(t, 3, code, errOut)
		require.Negative(t, strings.IndexFunc(out, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' }), "%q", out)
		require.Equal(t, form != "summary", strings.Contains(out, `\u001b[2J\u202e`), out)
		require.NotContains(t, out, "\n# forged")
		require.NotContains(t, out, "\n```\n# forged")
	}
}

// TestDiffPrintsNoSecret: the dump has Secrets, in each of the forms in which a value stands there.
func TestDiffPrintsNoSecret(t *testing.T) {
	text, err := os.ReadFile(dumped(t))
	require.NoError(t, err)
	secret := func(owner string) string {
		return `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "sentiment", "namespace": "default", "annotations": {` +
			`"kubectl.kubernetes.io/last-applied-configuration": "{\"stringData\":{\"a\":\"planted\"}}", "note": "planted"}` + owner + `}, ` +
			`"data": {"a": "cGxhbnRlZA=="}, "stringData": {"a": "planted"}}`
	}
	owned := `, "ownerReferences": [{"apiVersion": "model.github.com/v1", "kind": "ModelBox", "name": "sentiment", "uid": "00000000-0000-4000-8000-000000000001", "controller": true}]`
	drifted := strings.Replace(string(text), `"replicas": 3,`, `"replicas": 7,`, 1)
	for _, form := range []string{"summary", "diff", "markdown", "json"} {
		for _, more := range []string{secret(""), secret(owned)} {
			code, out, errOut := operetta(t, drifted+more, "diff", "-o", form)
			require.Equal(t, 3, code, errOut)
			require.NotContains(t, out+errOut, "planted")
			require.NotContains(t, out+errOut, "cGxhbnRlZA==")
		}
	}
}
