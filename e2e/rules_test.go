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

// kinds are the kinds with the tables of their rules.
var kinds = []struct {
	apiVersion, kind string
	rules            map[string]rule
}{
	{"ci.zt.vapi.cc/v1", "Build", buildRules},
	{"d3os-product.com.d3os/v1", "DataService", dataServiceRules},
	{"model.github.com/v1", "ModelBox", modelBoxRules},
	{"myjob.github.com/v1beta1", "MyJob", myJobRules},
	{"apps.jicki.cn/v1alpha1", "PodBuggerTool", podBuggerToolRules},
	{"apps.jicki.cn/v1alpha1", "PodSet", podSetRules},
}

// A new rule needs an entry in the table: what has not refused anything on a
// real API server, nor let anything pass, may do either.
func TestEachRuleIsTested(t *testing.T) {
	var tested []string
	for _, kind := range kinds {
		for _, rule := range kind.rules {
			tested = append(tested, rule.message)
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
		for _, name := range slices.Sorted(maps.Keys(kind.rules)) {
			t.Run(kind.kind+"/"+name, func(t *testing.T) { requireRule(t, kind.rules[name], manifest, messages) })
		}
	}
}

func requireRule(t *testing.T, rule rule, manifest func(name, spec string) string, messages []string) {
	t.Helper()
	if rule.before != "" {
		apply(t, manifest("rule", rule.before))
		t.Cleanup(func() {
			_, _, err := controlPlane.KubectlWithInput(manifest("rule", rule.before), "delete", "--filename=-")
			require.NoError(t, err)
		})
	}
	apply(t, manifest("rule", rule.good), "--dry-run=server")

	name := "rule"
	if rule.badName != "" {
		name = rule.badName
	}
	_, stderr, err := controlPlane.KubectlWithInput(manifest(name, rule.bad), "apply", "--dry-run=server", "--filename=-")
	require.Error(t, err, "nothing refuses %s", rule.bad)
	require.Contains(t, stderr, rule.message)
	for _, other := range messages {
		if other != rule.message {
			require.NotContains(t, stderr, other, "another rule refuses it too")
		}
	}
}
