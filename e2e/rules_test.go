package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// messageMarker finds the message of a validation rule in Go source.
var messageMarker = regexp.MustCompile(`\+kubebuilder:validation:XValidation:.*message="([^"]+)"`)

// ruleMessages returns the messages of all validation rules of all kinds.
func ruleMessages(t *testing.T) []string {
	t.Helper()
	var messages []string
	paths, err := filepath.Glob("../hooks/*/types.go")
	require.NoError(t, err)
	for _, path := range paths {
		source := read(t, path)
		found := messageMarker.FindAllStringSubmatch(source, -1)
		require.Len(t, found, strings.Count(source, "validation:XValidation:"), "%s has a rule without a message", path)
		for _, match := range found {
			messages = append(messages, match[1])
		}
	}
	require.NotEmpty(t, messages)
	return messages
}

// rule is a spec that a validation rule refuses, and one that it accepts.
type rule struct {
	// Message is a part of kubectl's output: for a rule of types.go its message.
	Message string `json:"message"`
	// Also is the message of another rule that refuses the bad spec, if there is one.
	Also string `json:"also"`
	// Before is the former spec, for a rule about updates. Without it the object is
	// created.
	Before string `json:"before"`
	// Bad is a spec that violates only this rule, and Good a similar one that
	// violates none.
	Bad  string `json:"bad"`
	Good string `json:"good"`
	// BadName is the name of the object with the bad spec, if not "rule".
	BadName string `json:"badName"`
}

// kinds are the kinds with rules. Their rules stand beside their hooks, which
// are tested with them, too.
var kinds = []struct{ apiVersion, kind string }{
	{"ci.zt.vapi.cc/v1", "Build"},
	{"d3os-product.com.d3os/v1", "DataService"},
	{"model.github.com/v1", "ModelBox"},
	{"myjob.github.com/v1beta1", "MyJob"},
	{"apps.jicki.cn/v1alpha1", "PodBuggerTool"},
	{"apps.jicki.cn/v1alpha1", "PodSet"},
}

// rulesOf returns the rules of a kind by name.
func rulesOf(t *testing.T, kind string) map[string]rule {
	t.Helper()
	var rules map[string]rule
	require.NoError(t, yaml.UnmarshalStrict([]byte(read(t, "../hooks/"+strings.ToLower(kind)+"/testdata/rules.yaml")), &rules))
	require.NotEmpty(t, rules)
	return rules
}

// Every rule needs an entry in the table, so that it has refused and accepted a spec
// on a real API server.
func TestEachRuleIsTested(t *testing.T) {
	var tested []string
	for _, kind := range kinds {
		for _, rule := range rulesOf(t, kind.kind) {
			tested = append(tested, rule.Message)
		}
	}
	for _, message := range ruleMessages(t) {
		require.Contains(t, tested, message)
	}
}

func TestRulesRefuseWhatTheySayAndNothingElse(t *testing.T) {
	messages := ruleMessages(t)
	for _, kind := range kinds {
		manifest := func(name, spec string) string {
			return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %q}\nspec: %s\n", kind.apiVersion, kind.kind, name, spec)
		}
		rules := rulesOf(t, kind.kind)
		for _, name := range slices.Sorted(maps.Keys(rules)) {
			t.Run(kind.kind+"/"+name, func(t *testing.T) {
				if rules[name].Before == "" { // or the object already exists
					t.Parallel()
				}
				requireRule(t, rules[name], manifest, messages)
			})
		}
	}
}

func requireRule(t *testing.T, rule rule, manifest func(name, spec string) string, messages []string) {
	t.Helper()
	if rule.Before != "" {
		apply(t, manifest("rule", rule.Before))
		t.Cleanup(func() {
			_, _, err := controlPlane.KubectlWithInput(manifest("rule", rule.Before), "delete", "--filename=-")
			require.NoError(t, err)
		})
	}
	apply(t, manifest("rule", rule.Good), "--dry-run=server")

	name := "rule"
	if rule.BadName != "" {
		name = rule.BadName
	}
	_, stderr, err := controlPlane.KubectlWithInput(manifest(name, rule.Bad), "apply", "--dry-run=server", "--filename=-")
	require.Error(t, err, "nothing refuses %s", rule.Bad)
	require.Contains(t, stderr, rule.Message)
	for _, other := range messages {
		if !strings.Contains(rule.Message, other) && other != rule.Also {
			require.NotContains(t, stderr, other, "another rule refuses it too")
		}
	}
	manifests := manifest(name, rule.Bad)
	if rule.Before != "" {
		manifests = manifest("rule", rule.Before) + "---\n" + manifests
	}
	requireSameWords(t, manifests, stderr)
}

// reason matches a reason in the output of kubectl, or of operetta, which adds the line number.
var reason = regexp.MustCompile(`(?m)^(?:\* |(?:operetta: )?The .* is invalid: )(.+?)(?: \(standard input:\d+\))?$`)

// unknownField matches the error about fields that are not in the schema.
var unknownField = regexp.MustCompile(`unknown field "[^"]+"`)

// requireSameWords fails unless a simulation refuses the last manifest with the same
// messages as the API server. An unknown field is a warning there, and an error with
// kubectl's default of strict validation.
func requireSameWords(t *testing.T, manifests, stderr string) {
	t.Helper()
	simulate := exec.Command("../bin/operetta", "simulate", "-")
	simulate.Stdin = strings.NewReader(manifests)
	var told bytes.Buffer
	simulate.Stderr = &told
	err := simulate.Run()
	if unknown := unknownField.FindAllString(stderr, -1); len(unknown) > 0 {
		for _, field := range unknown {
			require.Contains(t, told.String(), "warning: "+field+" (standard input:")
		}
		return
	}
	require.Error(t, err)
	reasons := func(text string) (all []string) {
		for _, match := range reason.FindAllStringSubmatch(text, -1) {
			words := strings.Join(strings.Fields(match[1]), " ")
			if len(words) > 1000 { // a preview shortens a long value in the middle
				words = words[:60] + words[len(words)-500:]
			}
			all = append(all, words)
		}
		return all
	}
	require.NotEmpty(t, reasons(stderr), stderr)
	require.ElementsMatch(t, reasons(stderr), reasons(told.String()), "%s\nsimulate: %s", stderr, told.String())
}
