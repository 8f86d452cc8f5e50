package hooks_test

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/lab/commands"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// rule is what a validation rule refuses, see testdata/rules.yaml of each kind.
type rule struct {
	// Message is a part of the refusal: of a rule of types.go its message.
	Message string `json:"message"`
	// Also is the message of another rule that refuses the bad spec, if there is one.
	Also string `json:"also"`
	// Before is the former spec, for a rule about updates. Without it the object is created.
	Before string `json:"before"`
	// Bad is a spec that violates only this rule, and Good a similar one that violates none.
	Bad  string `json:"bad"`
	Good string `json:"good"`
	// BadName is the name of the object with the bad spec, if not "rule".
	BadName string `json:"badName"`
}

// rulesOf returns the rules of an operator by name.
func rulesOf(t *testing.T, controller metacontroller.Controller) map[string]rule {
	t.Helper()
	text, err := os.ReadFile(controller.Name() + "/testdata/rules.yaml")
	require.NoError(t, err)
	var rules map[string]rule
	require.NoError(t, yaml.UnmarshalStrict(text, &rules))
	require.NotEmpty(t, rules)
	return rules
}

// TestEachRuleIsListed wants an entry for every rule, so that it has refused and accepted a
// spec on a real API server, and a message that is a rule's own.
func TestEachRuleIsListed(t *testing.T) {
	for _, controller := range hooks.All() {
		if !testenv.Selected(controller.Name()) {
			continue
		}
		listed := map[string]bool{}
		for _, rule := range rulesOf(t, controller) {
			listed[rule.Message] = true
		}
		for _, rule := range writtenRules(t, controller) {
			require.NotEmpty(t, rule.Message, "%s: %s", controller.Name(), rule.Rule)
			require.True(t, listed[rule.Message], "%s/testdata/rules.yaml has nothing that breaks the rule with the message %q", controller.Name(), rule.Message)
		}
	}
}

// TestRulesRefuseWhatTheySayAndNothingElse asks a real API server for what each entry of
// rules.yaml calls bad and good, with the strict validation that kubectl asks for, and
// compares its words with those of a simulation.
func TestRulesRefuseWhatTheySayAndNothingElse(t *testing.T) {
	server := realAPIServer(t)
	asked := 0
	for _, controller := range hooks.All() {
		if !testenv.Selected(controller.Name()) {
			continue
		}
		var messages []string
		for _, rule := range writtenRules(t, controller) {
			messages = append(messages, rule.Message)
		}
		rules := rulesOf(t, controller)
		for _, name := range slices.Sorted(maps.Keys(rules)) {
			t.Run(controller.Name()+"/"+name, func(t *testing.T) {
				ruleTest{t, server, controller}.requireRule(rules[name], messages)
			})
			asked++
		}
	}
	t.Logf("%d rules asked for", asked)
}

type ruleTest struct {
	*testing.T

	server     *apiServer
	controller metacontroller.Controller
}

// object returns a custom resource with a spec.
func (t ruleTest) object(name, spec string) kube.Object {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(t.controller.Parent.APIVersion)
	object.SetKind(t.controller.Parent.Kind)
	object.SetName(name)
	object.SetNamespace("default")
	var content any
	require.NoError(t, yaml.Unmarshal([]byte(spec), &content))
	object.Object["spec"] = content
	return object
}

func (t ruleTest) requireRule(rule rule, messages []string) {
	before := t.object("rule", rule.Before)
	write := func(name, spec string) error { return t.server.create(t.object(name, spec), strictly) }
	if rule.Before != "" {
		require.NoError(t, t.server.create(before, forReal))
		t.Cleanup(func() { require.NoError(t, t.server.delete(before)) })
		stored := t.server.get(before)
		require.NotNil(t, stored)
		write = func(name, spec string) error {
			changed := stored.DeepCopy()
			changed.Object["spec"] = t.object(name, spec).Object["spec"]
			return t.server.update(changed, strictly)
		}
	}
	require.NoError(t, write("rule", rule.Good))

	name := cmp.Or(rule.BadName, "rule")
	err := write(name, rule.Bad)
	require.Error(t, err, "nothing refuses %s", rule.Bad)
	refused, isRefusal := errors.AsType[*refusal](err)
	require.True(t, isRefusal, err)
	require.Contains(t, inOneLine(refused.message), inOneLine(rule.Message))
	for _, other := range messages {
		if !strings.Contains(rule.Message, other) && other != rule.Also {
			require.NotContains(t, refused.message, other, "another rule refuses it too")
		}
	}
	manifests := encodedObject(t.T, t.object(name, rule.Bad))
	if rule.Before != "" {
		manifests = encodedObject(t.T, before) + "---\n" + manifests
	}
	requireSameWords(t.T, manifests, refused)
}

func encodedObject(t *testing.T, object kube.Object) string {
	t.Helper()
	text, err := yaml.Marshal(object.Object)
	require.NoError(t, err)
	return string(text)
}

// reason matches a reason in what operetta prints, which adds the number of the line to the
// words of kubectl.
var reason = regexp.MustCompile(`(?m)^(?:\* |operetta: The .* is invalid: )(.+?)(?: \(standard input:\d+\))?$`)

// unknownField matches the error about fields that are not in the schema.
var unknownField = regexp.MustCompile(`unknown field "[^"]+"`)

// requireSameWords fails unless a simulation refuses the last manifest with the same reasons
// as the API server. An unknown field is a warning there, and an error with kubectl's default
// of strict validation.
func requireSameWords(t *testing.T, manifests string, refused *refusal) {
	t.Helper()
	var told bytes.Buffer
	code := commands.Run(t.Context(), "operetta", commands.Operators{Controllers: hooks.All()}, []string{"simulate", "-"},
		cli.Streams{In: strings.NewReader(manifests), Out: &bytes.Buffer{}, Err: &told})
	if unknown := unknownField.FindAllString(refused.message, -1); len(unknown) > 0 {
		for _, field := range unknown {
			require.Contains(t, told.String(), "warning: "+field+" (standard input:")
		}
		return
	}
	require.NotZero(t, code)
	if strings.Contains(told.String(), "a number with a fraction") { // it says what to write instead
		return
	}
	var wanted, printed []string
	for _, reason := range refused.reasons {
		// Two things are told otherwise: what has no path, of which the value is left out, and
		// not at all that the API server has looked no further.
		if strings.HasPrefix(reason, "<nil>: Invalid value: null: some validation rules were not checked") {
			continue
		}
		if detail, isWhole := strings.CutPrefix(reason, "<nil>: Invalid value: "); isWhole {
			reason = crd.WholeObject + ": Invalid value: " + strings.TrimPrefix(detail, `"": `)
		}
		wanted = append(wanted, withoutMiddle(reason))
	}
	for _, match := range reason.FindAllStringSubmatch(told.String(), -1) {
		printed = append(printed, withoutMiddle(match[1]))
	}
	require.NotEmpty(t, wanted, refused.message)
	require.ElementsMatch(t, wanted, printed, "%s\nsimulate: %s", refused.message, told.String())
}

func inOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// withoutMiddle leaves out the middle of a long reason, where a preview shortens it.
func withoutMiddle(reason string) string {
	words := inOneLine(reason)
	if len(words) > 1000 {
		words = words[:60] + words[len(words)-500:]
	}
	return words
}
