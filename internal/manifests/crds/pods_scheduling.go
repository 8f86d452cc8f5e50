package crds

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mostLabelKeys is far more than the one or two labels that tell revisions apart.
const mostLabelKeys = int64(8)

// aboutScheduling is what is asked of what chooses a node.
var aboutScheduling = map[reflect.Type]asked{
	reflect.TypeFor[corev1.PreferredSchedulingTerm](): {fields: map[string]keywords{"weight": between(1, 100)}},
	reflect.TypeFor[corev1.WeightedPodAffinityTerm](): {fields: map[string]keywords{"weight": between(1, 100)}},
	reflect.TypeFor[corev1.NodeSelector]():            {fields: map[string]keywords{"nodeSelectorTerms": {"minItems": int64(1), "maxItems": mostTerms}}},
	reflect.TypeFor[corev1.NodeAffinity]():            {fields: map[string]keywords{"preferredDuringSchedulingIgnoredDuringExecution": {"maxItems": mostTerms}}, rules: []rule{fewNodes}},
	reflect.TypeFor[corev1.PodAffinity]():             {fields: affinityTerms, rules: []rule{fewSelected("podAffinity")}},
	reflect.TypeFor[corev1.PodAntiAffinity]():         {fields: affinityTerms, rules: []rule{fewSelected("podAntiAffinity")}},
	reflect.TypeFor[corev1.NodeSelectorTerm](): {
		fields: map[string]keywords{
			"matchExpressions": {"maxItems": mostTerms}, "matchFields": {"maxItems": mostTerms},
			"matchFields[].key": oneOf("metadata.name"), "matchFields[].operator": oneOf("In", "NotIn"),
			"matchFields[].values": {"minItems": int64(1), "maxItems": int64(1)}, "matchFields[].values[]": subdomain, // a node's name
		},
	},
	reflect.TypeFor[corev1.NodeSelectorRequirement](): {
		fields: map[string]keywords{
			"key": qualified, "operator": oneOf("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
			"values[]": labelValue,
		},
		rules: []rule{
			{"self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : " +
				"self.operator in ['Gt', 'Lt'] ? has(self.values) && size(self.values) == 1 && self.values[0].matches('^[0-9]+$') : " +
				"!has(self.values) || size(self.values) == 0", "values do not fit the operator: In and NotIn need values, Gt and Lt one number of 0 or more, Exists and DoesNotExist none"},
		},
	},
	reflect.TypeFor[metav1.LabelSelector](): {fields: map[string]keywords{"matchLabels{}": labelValue}},
	reflect.TypeFor[metav1.LabelSelectorRequirement](): {
		fields: map[string]keywords{"key": qualified, "operator": oneOf("In", "NotIn", "Exists", "DoesNotExist"), "values[]": labelValue},
		rules: []rule{
			{"self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",
				"values do not fit the operator: In and NotIn need values, Exists and DoesNotExist none"},
		},
	},
	reflect.TypeFor[corev1.PodAffinityTerm](): {
		fields: map[string]keywords{
			"topologyKey": qualified, "namespaces[]": label, "matchLabelKeys[]": qualified, "mismatchLabelKeys[]": qualified,
			"matchLabelKeys": {"maxItems": mostLabelKeys}, "mismatchLabelKeys": {"maxItems": mostLabelKeys},
		},
		rules: []rule{{"!has(self.matchLabelKeys) || !has(self.mismatchLabelKeys) || !self.matchLabelKeys.exists(key, key in self.mismatchLabelKeys)",
			"matchLabelKeys and mismatchLabelKeys cannot have the same key: remove it from one of them"}, {"has(self.labelSelector) || ((!has(self.matchLabelKeys) || size(self.matchLabelKeys) == 0) && (!has(self.mismatchLabelKeys) || size(self.mismatchLabelKeys) == 0))",
			"matchLabelKeys and mismatchLabelKeys need labelSelector: set labelSelector, or remove them"}},
	},
	reflect.TypeFor[corev1.TopologySpreadConstraint](): {
		fields: map[string]keywords{
			"maxSkew": atLeast(1), "minDomains": atLeast(1), "topologyKey": qualified, "matchLabelKeys[]": qualified, "matchLabelKeys": {"maxItems": mostLabelKeys},
			"whenUnsatisfiable":  oneOf("DoNotSchedule", "ScheduleAnyway"),
			"nodeAffinityPolicy": oneOf("Honor", "Ignore"), "nodeTaintsPolicy": oneOf("Honor", "Ignore"),
		},
		rules: []rule{
			{"!has(self.minDomains) || self.whenUnsatisfiable == 'DoNotSchedule'", "minDomains needs whenUnsatisfiable DoNotSchedule: set that, or remove minDomains"},
			{"has(self.labelSelector) || !has(self.matchLabelKeys) || size(self.matchLabelKeys) == 0",
				"matchLabelKeys need labelSelector: set labelSelector, or remove them"},
		},
	},
	reflect.TypeFor[corev1.Toleration](): {
		fields: map[string]keywords{
			"effect": oneOf("NoSchedule", "PreferNoSchedule", "NoExecute"), "operator": oneOf("Exists", "Equal"),
			"key": maybeQualified, "value": labelValue,
		},
		rules: []rule{
			{"(has(self.key) && self.key != '') || (has(self.operator) && self.operator == 'Exists')",
				"a toleration without key needs operator Exists: set key or that operator"},
			{"!has(self.operator) || self.operator != 'Exists' || !has(self.value) || self.value == ''",
				"operator Exists cannot have a value: remove value, or use operator Equal"},
			{"!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
				"tolerationSeconds need effect NoExecute: set that, or remove tolerationSeconds"},
		},
	},
}

var affinityTerms = map[string]keywords{
	"requiredDuringSchedulingIgnoredDuringExecution":  {"maxItems": mostTerms},
	"preferredDuringSchedulingIgnoredDuringExecution": {"maxItems": mostTerms},
}

// mostSelected is how many terms, and labels, expressions, values, keys and namespaces in these, a list may
// have together. Those of Pods that cannot be scheduled are read by kube-scheduler at each event of a Pod, one
// event after the other for the whole cluster. The component bounded-objects admits as many.
const mostSelected = "20"

// tooManySelected is said of the list of that name.
func tooManySelected(field string) string {
	return field + " can have at most " + mostSelected + " terms, labels, expressions, values and namespaces together, where a key of matchLabelKeys or mismatchLabelKeys counts for two: use fewer"
}

// selected is how many labels, expressions and values a selector has.
func selected(selector string) string {
	return "(has(" + selector + ") ? (has(" + selector + ".matchLabels) ? size(" + selector + ".matchLabels) : 0) + (has(" + selector + ".matchExpressions) ? " +
		selector + ".matchExpressions.map(e, 1 + (has(e.values) ? size(e.values) : 0)).sum() : 0) : 0)"
}

// added is how many expressions and values the API server adds to a selector for the
// keys of a list: one of each for a key.
func added(keys string) string {
	return "(has(" + keys + ") ? 2 * size(" + keys + ") : 0)"
}

// fewSelected bounds the terms of an affinity to Pods and their selectors.
func fewSelected(field string) rule {
	required, preferred := "self.requiredDuringSchedulingIgnoredDuringExecution", "self.preferredDuringSchedulingIgnoredDuringExecution"
	terms := func(list, term string) string {
		return "(has(" + list + ") ? " + list + ".map(t, 1 + " + selected(term+".labelSelector") + " + " + selected(term+".namespaceSelector") +
			" + " + added(term+".matchLabelKeys") + " + " + added(term+".mismatchLabelKeys") + " + (has(" + term + ".namespaces) ? size(" + term + ".namespaces) : 0)).sum() : 0)"
	}
	return rule{terms(required, "t") + " + " + terms(preferred, "t.podAffinityTerm") + " <= " + mostSelected, tooManySelected(field)}
}

// fewSpread is the same of topologySpreadConstraints.
var fewSpread = rule{"self.map(t, 1 + " + selected("t.labelSelector") + " + " + added("t.matchLabelKeys") + ").sum() <= " + mostSelected, tooManySelected("topologySpreadConstraints")}

// What a Pod may have of what kube-scheduler goes through for each node and each Pod there, at each attempt to
// schedule it. The component bounded-objects admits as many.
const (
	mostNodes     = "100" // terms, expressions and values of a nodeAffinity: DaemonSets read them for each node
	mostDisks     = "20"  // volumes that are compared with those of each Pod of a node
	mostHostPorts = "20"
	mostAmounts   = "100" // requests and limits
)

// fewNodes bounds the terms of an affinity to nodes.
var fewNodes = func() rule {
	const required, preferred = "self.requiredDuringSchedulingIgnoredDuringExecution", "self.preferredDuringSchedulingIgnoredDuringExecution"
	requirements := func(list string) string {
		return "(has(" + list + ") ? " + list + ".map(e, 1 + (has(e.values) ? size(e.values) : 0)).sum() : 0)"
	}
	terms := func(list, term string) string {
		return list + ".map(t, 1 + " + requirements(term+".matchExpressions") + " + " + requirements(term+".matchFields") + ").sum()"
	}
	return rule{
		"(has(" + required + ") ? " + terms(required+".nodeSelectorTerms", "t") + " : 0) + (has(" + preferred + ") ? " + terms(preferred, "t.preference") + " : 0) <= " + mostNodes,
		"nodeAffinity can have at most " + mostNodes + " terms, expressions and values together: give the nodes a label instead",
	}
}()

// fewDisks bounds the volumes that kube-scheduler compares with those of other Pods, and the claims, of
// which it looks at all PersistentVolumes.
var fewDisks = rule{
	"self.map(v, (has(v.persistentVolumeClaim) || has(v.ephemeral) || has(v.iscsi) || has(v.gcePersistentDisk) || has(v.awsElasticBlockStore) ? 1 : 0)" +
		" + (has(v.rbd) ? 1 + size(v.rbd.monitors) : 0)).sum() <= " + mostDisks,
	"a Pod can have at most " + mostDisks + " volumes of claims, iscsi, rbd, gcePersistentDisk and awsElasticBlockStore, where each monitor of rbd counts for one: use fewer",
}

// fewHostPorts bounds the ports of a list of containers on their node.
var fewHostPorts = rule{
	"self.map(c, has(c.ports) ? c.ports.filter(p, has(p.hostPort) && p.hostPort > 0).size() : 0).sum() <= " + mostHostPorts,
	"containers can have at most " + mostHostPorts + " hostPorts together: use a Service for the others",
}

// fewAmounts bounds what a list of containers asks for.
var fewAmounts = rule{
	"self.map(c, has(c.resources) ? (has(c.resources.limits) ? size(c.resources.limits) : 0) + (has(c.resources.requests) ? size(c.resources.requests) : 0) : 0).sum() <= " + mostAmounts,
	"the resources of containers can have at most " + mostAmounts + " limits and requests together: use fewer",
}
