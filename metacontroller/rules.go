package metacontroller

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// validRules returns rules that Metacontroller accepts: an invalid one would be
// an error again at every event of every related object. Names that no object
// can have are dropped. A rule that would be empty then is replaced by one that
// selects nothing, so that the kind stays in the request.
func validRules(rules []Rule) []Rule {
	valid := make([]Rule, 0, len(rules))
	for _, rule := range rules {
		names := slices.DeleteFunc(slices.Clone(rule.Names), func(name string) bool {
			return name == "" || len(content.IsPathSegmentName(name)) > 0
		})
		if len(names) == 0 && len(rule.Names) > 0 || !isValidSelector(rule.LabelSelector) || !isValidSelector(rule.NamespaceSelector) {
			valid = append(valid, selectNothing(rule))
			continue
		}
		rule.Names = names
		valid = append(valid, rule)
	}
	return valid
}

// within returns rules of which each selects in the parent's namespace, unless the operator
// declares that they need not. Metacontroller does not sync the parent if one selects elsewhere.
func (c Controller) within(parents string, rules []Rule) ([]Rule, error) {
	if c.RelatedInAllNamespaces || parents == "" {
		return rules, nil
	}
	rules = slices.Clone(rules)
	for i, rule := range rules {
		if rule.NamespaceSelector != nil || rule.Namespace != "" && rule.Namespace != parents {
			return nil, fmt.Errorf("a rule of the customize hook selects %s in other namespaces than the parent's: set Controller.RelatedInAllNamespaces, or leave out Namespace and NamespaceSelector", rule.Resource)
		}
		rules[i].Namespace = parents
	}
	return rules, nil
}

func isValidSelector(selector *metav1.LabelSelector) bool {
	_, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil
}

func selectNothing(rule Rule) Rule {
	const label = "operetta.dev/nothing"
	return Rule{APIVersion: rule.APIVersion, Resource: rule.Resource, Namespace: rule.Namespace, LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: label, Operator: metav1.LabelSelectorOpExists},
			{Key: label, Operator: metav1.LabelSelectorOpDoesNotExist},
		},
	}}
}
