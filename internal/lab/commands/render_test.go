package commands

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/metacontroller"
)

// greeting is the parent of a toy operator.
type greeting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Text  string `json:"text"`
		Count int64  `json:"count"`
	} `json:"spec"`
}

// greetings makes a ConfigMap, and keeps every other one.
func greetings() metacontroller.Controller {
	configMaps := metacontroller.Resource{APIVersion: "v1", Kind: "ConfigMap", Plural: "configmaps"}
	return metacontroller.Controller{
		Parent:   metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Greeting", Plural: "greetings"},
		Children: []metacontroller.Child{{Resource: configMaps, Update: metacontroller.InPlace}},
		Sync: metacontroller.Sync(func(g *greeting, seen metacontroller.Observed) (metacontroller.Result[map[string]any], error) {
			result := metacontroller.Result[map[string]any]{Status: map[string]any{"now": seen.Now.String(), "count": g.Spec.Count}}
			if g.Spec.Text == "" {
				return result, errors.New("spec.text is missing:\nwrite what to say")
			}
			result.Children = []metacontroller.Object{&corev1.ConfigMap{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
				ObjectMeta: metav1.ObjectMeta{Name: g.Name},
				Data:       map[string]string{"text": g.Spec.Text},
			}}
			for _, observed := range seen.Children.All("v1", "ConfigMap") {
				if observed.Name != g.Name {
					result.Children = append(result.Children, metacontroller.Keep(observed))
				}
			}
			return result, nil
		}),
		Customize: metacontroller.Customize(func(*greeting) ([]metacontroller.Rule, error) { return nil, nil }),
	}
}

// greet runs a command line of a program that has the toy operator only.
func greet(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runProgram(t, Operators{Controllers: []metacontroller.Controller{greetings()}}, stdin, args...)
}

const (
	bare    = "apiVersion: example.com/v1\nkind: Greeting\nmetadata: {name: hello, namespace: ns}\nspec: {text: hi, count: 1234567890123}\n"
	request = `{"parent": {"apiVersion": "example.com/v1", "kind": "Greeting", "metadata": {"name": "hello"}, "spec": {"text": "hi"}},
		"children": {"ConfigMap.v1": {"old": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old"}}}}}`
)

func TestRenderPrintsTheWholeAnswer(t *testing.T) {
	code, text, stderr := greet(t, bare, "render", "-", "--now", "2026-01-02T05:04:05+02:00")
	require.Equal(t, cli.ExitDone, code, stderr)
	hash := text[strings.Index(text, "operetta.dev/hash: ")+len("operetta.dev/hash: "):]
	hash, _, _ = strings.Cut(hash, "\n")
	require.Equal(t, `children:
- apiVersion: v1
  data:
    text: hi
  kind: ConfigMap
  metadata:
    annotations:
      operetta.dev/hash: `+hash+`
    name: hello
status:
  count: 1234567890123
  now: 2026-01-02 03:04:05 +0000 UTC
`, text)
}

func TestRenderTakesEachHook(t *testing.T) {
	_, text, _ := greet(t, request, "render", "-", "--hook", "customize")
	require.Equal(t, "relatedResources: []\n", text)
	_, text, _ = greet(t, request, "render", "-", "--hook", "finalize")
	require.Equal(t, "children: []\nfinalized: false\nstatus: {}\n", text)
	_, text, _ = greet(t, bare, "render", "-", "--hook", "finalize")
	require.Equal(t, "children: []\nfinalized: true\nstatus: {}\n", text)
}

// TestRenderChildrenLeavesOutWhatIsKept: what is only kept has no content to
// apply. A child without a namespace would land in that of kubectl's context.
func TestRenderChildrenLeavesOutWhatIsKept(t *testing.T) {
	_, whole, _ := greet(t, request, "render", "-")
	require.Contains(t, whole, "name: old\n")
	code, children, _ := greet(t, request, "render", "-", "--children-only")
	require.Equal(t, cli.ExitDone, code)
	require.NotContains(t, children, "old")
	require.Contains(t, children, "namespace: default", "the parent has none")
	require.NotContains(t, children, "status")
	require.Equal(t, 1, strings.Count(children, "---\n"))

	_, children, _ = greet(t, bare, "render", "-", "--children-only")
	require.True(t, strings.HasPrefix(children, "---\napiVersion: v1\ndata:\n  text: hi\nkind: ConfigMap\n"), children)
	require.Contains(t, children, "\n  name: hello\n  namespace: ns\n")
}

func TestRenderPassesOverOtherObjects(t *testing.T) {
	_, alone, _ := greet(t, bare, "render", "-", "--children-only")
	code, stdout, stderr := greet(t, "apiVersion: v1\nkind: Pod\n---\n"+bare, "render", "-", "--children-only")
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Equal(t, alone, stdout)
}

func TestRenderTellsMistakes(t *testing.T) {
	for _, test := range []struct {
		name, stdin, args string
		code              int
		says              string
	}{
		{"a hook that fails", strings.Replace(bare, "text: hi, ", "", 1), "", 1, "standard input, document 1: spec.text is missing: write what to say"},
		{"another kind", "apiVersion: v1\nkind: Pod\n", "", 1, "standard input:2: there is no custom resource of a kind that operetta knows, only Pod of v1: write one of Greeting of example.com/v1\n"},
		{"two documents", bare + "---\n" + bare, "", 1, "standard input has 2 custom resources, and render takes one: split the file"},
		{"no document", "# nothing\n---\n", "", 1, "standard input has no document"},
		{"a list", "[1]", "", 1, "standard input, document 1: expected a mapping, not a list or a single value"},
		{"a key that stands twice", bare + "kind: Greeting\n", "", 1, `standard input, document 1 is neither YAML nor JSON`},
		{"children that are none", strings.Replace(request, `{"ConfigMap.v1"`, `[], "x": {"ConfigMap.v1"`, 1), "", 1, "standard input, document 1: children: "},
		{"a damaged child", strings.Replace(request, `"name": "old"`, `"name": 7`, 1), "", 1, `standard input, document 1: children["ConfigMap.v1"]: "old" has no metadata.name`},
		{"a hook that there is not", bare, "--hook adopt", 2, `--hook "adopt": greeting has the hooks [sync finalize customize] (see operetta render --help)`},
		{"children of customize", bare, "--hook customize --children-only", 2, "--children-only is for sync and finalize"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := greet(t, test.stdin, append([]string{"render", "-"}, strings.Fields(test.args)...)...)
			require.Equal(t, test.code, code)
			require.Empty(t, stdout)
			require.True(t, strings.HasPrefix(stderr, "operetta: "+test.says), stderr)
			require.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
		})
	}
}

// TestPoliciesApplyWhereHooksAreCalled: in a preview and in a simulation alike.
func TestPoliciesApplyWhereHooksAreCalled(t *testing.T) {
	path := write(t, "config.yaml", "log-level: debug\npolicy:\n  podset: {defaultImage: registry.example.com/busybox:1}\n")
	set := write(t, "podset.yaml", "apiVersion: apps.jicki.cn/v1alpha1\nkind: PodSet\nmetadata: {name: a}\nspec: {size: 1}\n")
	code, stdout, stderr := operetta(t, "", "render", set, "--children-only", "--config", path)
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Contains(t, stdout, "image: registry.example.com/busybox:1\n")
	_, stdout, _ = operetta(t, "", "render", set, "--children-only")
	require.Contains(t, stdout, "image: busybox:1.37\n")
	code, stdout, stderr = operetta(t, "", "simulate", set, "--output=yaml", "--config", path)
	require.Equal(t, cli.ExitDone, code, stderr+stdout)
}
