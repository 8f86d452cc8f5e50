package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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

// modelBox returns a ModelBox with a spec in YAML's flow style.
func modelBox(name, spec string) string {
	return fmt.Sprintf("apiVersion: model.github.com/v1\nkind: ModelBox\nmetadata: {name: %q}\nspec: %s\n", name, spec)
}

// A new rule needs an entry in the table: what has not refused anything on a
// real API server, nor let anything pass, may do either.
func TestEachRuleIsTested(t *testing.T) {
	var tested []string
	for _, rule := range modelBoxRules {
		tested = append(tested, rule.message)
	}
	for _, message := range ruleMessages(t) {
		require.Contains(t, tested, message)
	}
}

func TestRulesRefuseWhatTheySayAndNothingElse(t *testing.T) {
	messages := ruleMessages(t)
	for _, name := range slices.Sorted(maps.Keys(modelBoxRules)) {
		rule := modelBoxRules[name]
		t.Run(name, func(t *testing.T) {
			if rule.before != "" {
				apply(t, modelBox("rule", rule.before))
				t.Cleanup(func() { kubectl(t, "delete", "modelbox", "rule") })
			}
			apply(t, modelBox("rule", rule.good), "--dry-run=server")

			box := "rule"
			if rule.badName != "" {
				box = rule.badName
			}
			_, stderr, err := controlPlane.KubectlWithInput(modelBox(box, rule.bad), "apply", "--dry-run=server", "--filename=-")
			require.Error(t, err, "nothing refuses %s", rule.bad)
			require.Contains(t, stderr, rule.message)
			for _, other := range messages {
				if other != rule.message {
					require.NotContains(t, stderr, other, "another rule refuses it too")
				}
			}
		})
	}
}
