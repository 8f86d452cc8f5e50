package metacontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TestRulesAreWhatMetacontrollerTakes: what is not valid in one selects nothing, and
// never all.
func TestRulesAreWhatMetacontrollerTakes(t *testing.T) {
	rule := func(change func(rule *Rule)) Rule {
		made := Rule{APIVersion: "v1", Resource: "pods", Namespace: "ns"}
		change(&made)
		return made
	}
	selecting := func(value string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"a": value}}
	}
	none := selectNothing(rule(func(*Rule) {}))
	for name, test := range map[string]struct{ rule, want Rule }{
		"names":             {rule(func(r *Rule) { r.Names = []string{"a", "system:b"} }), rule(func(r *Rule) { r.Names = []string{"a", "system:b"} })},
		"one of the names":  {rule(func(r *Rule) { r.Names = []string{"a/b", "", "c", "%"} }), rule(func(r *Rule) { r.Names = []string{"c"} })},
		"all names":         {rule(func(r *Rule) { r.Names = []string{"..", ""} }), none},
		"labels":            {rule(func(r *Rule) { r.LabelSelector = selecting("b") }), rule(func(r *Rule) { r.LabelSelector = selecting("b") })},
		"a label":           {rule(func(r *Rule) { r.LabelSelector = selecting("-") }), none},
		"labels of another": {rule(func(r *Rule) { r.NamespaceSelector = selecting("-") }), none},
	} {
		require.Equal(t, []Rule{test.want}, validRules([]Rule{test.rule}), name)
	}
	require.Equal(t, []Rule{}, validRules(nil), "a list in the answer")
	selector, err := metav1.LabelSelectorAsSelector(none.LabelSelector)
	require.NoError(t, err)
	for _, set := range []labels.Set{nil, {"operetta.dev/nothing": ""}} {
		require.False(t, selector.Matches(set))
	}
}

func TestRulesStayInTheNamespaceOfTheParent(t *testing.T) {
	pods := Rule{APIVersion: "v1", Resource: "pods"}
	inOwn, inOther, bySelector := pods, pods, pods
	inOwn.Namespace, inOther.Namespace, bySelector.NamespaceSelector = "own", "other", &metav1.LabelSelector{}
	within := Controller{}
	for _, rule := range []Rule{pods, inOwn} {
		given := []Rule{rule}
		rules, err := within.within("own", given)
		require.NoError(t, err)
		require.Equal(t, []Rule{inOwn}, rules)
		require.Equal(t, []Rule{rule}, given, "the hook's rules may be shared")
	}
	for _, rule := range []Rule{inOther, bySelector} {
		given := []Rule{rule}
		_, err := within.within("own", given)
		require.ErrorContains(t, err, "selects pods in other namespaces than the parent's: set Controller.RelatedInAllNamespaces")
		rules, err := Controller{RelatedInAllNamespaces: true}.within("own", given)
		require.NoError(t, err)
		require.Equal(t, given, rules)
		rules, err = within.within("", given) // the parent is cluster-scoped, or the request was written by hand
		require.NoError(t, err)
		require.Equal(t, given, rules)
	}
}
