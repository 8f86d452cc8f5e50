package podbuggertool

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operetta-dev/operetta/metacontroller"
)

// toolLabel is on every Job and on its Pods, with the tool's name as its value. No tool matches a
// Pod with it: two tools with broad selectors would otherwise debug each other's Pods for ever.
const toolLabel = "operetta.dev/podbuggertool"

// customize selects the Pods that match and those of the tool's own Jobs, which show why a Job
// fails. With an invalid selector, which sync reports, it selects only the latter.
func customize(tool *PodBuggerTool) ([]metacontroller.Rule, error) {
	rule := func(wanted *metav1.LabelSelector) metacontroller.Rule {
		return metacontroller.Rule{
			APIVersion: metacontroller.Pod.APIVersion, Resource: metacontroller.Pod.Plural, Namespace: tool.Namespace, LabelSelector: wanted,
		}
	}
	var rules []metacontroller.Rule
	if _, err := selector(tool); err == nil {
		rules = append(rules, rule(foreign(&tool.Spec.Selector)))
	}
	return append(rules, rule(&metav1.LabelSelector{MatchLabels: map[string]string{toolLabel: tool.Name}})), nil
}

// selector returns the tool's selector, which matches no Pod of a tool's Job.
func selector(tool *PodBuggerTool) (labels.Selector, error) {
	wanted := &tool.Spec.Selector
	if len(wanted.MatchLabels)+len(wanted.MatchExpressions) == 0 {
		return nil, errors.New("spec.selector is empty and would match every Pod of the namespace: write matchLabels or matchExpressions")
	}
	selector, err := metav1.LabelSelectorAsSelector(foreign(wanted))
	if err != nil {
		return nil, fmt.Errorf("spec.selector cannot be read: %w", err)
	}
	return selector, nil
}

// foreign returns a Kubernetes selector that excludes the Pods of all tools'
// Jobs.
func foreign(wanted *Selector) *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	for key, value := range wanted.MatchLabels {
		metav1.AddLabelToSelector(selector, key, string(value))
	}
	for _, requirement := range wanted.MatchExpressions {
		var values []string
		for _, value := range requirement.Values {
			values = append(values, string(value))
		}
		selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: requirement.Key, Operator: metav1.LabelSelectorOperator(requirement.Operator), Values: values,
		})
	}
	selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
		Key: toolLabel, Operator: metav1.LabelSelectorOpDoesNotExist,
	})
	return selector
}
