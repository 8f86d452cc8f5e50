package operettatest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// oddValues are values of types that a field does not have, and extreme ones.
var oddValues = []any{nil, 0.0, -1.0, 1e99, "", "x", "-", "..", "a/b", "{", "99999999999", strings.Repeat("a", 400), []any{}, []any{nil}, object{}, object{"a": nil}, true}

// customizeAnswers damages the parents of one case for each spec: customize must not fail for
// any parent that a CRD admits, or admitted once. Metacontroller does not cache its errors, and
// calls it again for each such parent in the cluster at every event of every related object.
func (k kind) customizeAnswers(t *testing.T) {
	if !slices.Contains(k.Hooks(), metacontroller.CustomizeHook) {
		t.Skip("the operator has no customize hook")
	}
	seen := map[string]bool{}
	k.each(t, k.casesAndSamples(), func(t *testing.T, c corpus.Case) {
		parent := parsed(t, c.Request)["parent"].(object)
		delete(parent, "status")
		spec := string(encoded(t, object{"spec": parent["spec"]}))
		if seen[spec] {
			t.Skip("another case has that spec")
		}
		seen[spec] = true
		t.Parallel()
		customizeAnswers(t, c, parent)
	})
}

func customizeAnswers(t *testing.T, c corpus.Case, parent object) {
	one := uint32(5) // of so many
	if testenv.Inner() {
		one = 20
	}
	c.Hook = metacontroller.CustomizeHook
	next := advise(t, "")
	ask := func(what string, change func(parent object)) {
		copied := runtime.DeepCopyJSON(parent)
		change(copied)
		c.Request = encoded(t, object{"parent": copied})
		requireRules(t, next, c, what)
	}
	ask("as it is", func(object) {})
	ask("without a spec", func(parent object) { delete(parent, "spec") })
	ask("with a long name", func(parent object) { parent["metadata"].(object)["name"] = strings.Repeat("a.", 120) + "a" })
	for name, damage := range damages {
		ask(name, damage)
	}
	for place := 1; place <= countValues(parent["spec"]); place++ {
		for i, value := range oddValues {
			if testenv.Often(fmt.Sprint(c.Name, place, i), one) {
				ask(fmt.Sprintf("%v at %d", value, place), func(parent object) {
					left := place
					parent["spec"] = replaceValue(parent["spec"], &left, value)
				})
			}
		}
	}
}

// rulesOf returns the rules of the answer to a customize request.
func rulesOf(t testing.TB, c corpus.Case, what string) []metacontroller.Rule {
	answer, err := c.Call()
	require.NoError(t, err, what)
	var rules struct{ RelatedResources []metacontroller.Rule }
	require.NoError(t, json.Unmarshal(answer.Body, &rules))
	return rules.RelatedResources
}

// requireRules requires an answer with a rule for each related kind that does more than inform,
// and none that selects a whole kind.
func requireRules(t testing.TB, next func(remedy string), c corpus.Case, what string) {
	next("answer from what can be read of the parent, and never with an error")
	rules := rulesOf(t, c, what)
	next("return a rule for each kind of Controller.Related whatever the spec is, by a name that no object has if need be")
	for _, kind := range c.Controller.Related {
		require.True(t, kind.Informs || slices.ContainsFunc(rules, func(rule metacontroller.Rule) bool {
			return rule.APIVersion == kind.APIVersion && rule.Resource == kind.Plural
		}), "%s: no rule selects %s", what, kind.Plural)
	}
	next("select by names, or by a label with its value")
	for _, rule := range rules {
		isNarrow := len(rule.Names) > 0
		if selector := rule.LabelSelector; selector != nil {
			some := selector.MatchExpressions // one that only leaves out some selects nearly all
			isNarrow = len(selector.MatchLabels) > 0 || len(some) > 1 ||
				len(some) == 1 && (some[0].Operator == metav1.LabelSelectorOpIn || some[0].Operator == metav1.LabelSelectorOpExists)
		}
		require.True(t, isNarrow, "%s: a rule selects nearly all %s", what, rule.Resource)
	}
}
