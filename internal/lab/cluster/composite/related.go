package composite

import (
	"fmt"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

type selection struct {
	uid        types.UID
	generation int64
	asked      time.Time
	rules      []*metacontroller.Rule
}

// related returns the objects that the parent's customize hook selects. It is
// called once for each generation of the parent.
func (m *Metacontroller) related(p *Parent, object kube.Object) ([]group, error) {
	if !slices.Contains(p.controller.Hooks(), metacontroller.CustomizeHook) {
		return []group{}, nil
	}
	now := m.server.Now()
	s := p.selection
	if s == nil || s.uid != object.GetUID() || s.generation != object.GetGeneration() || now.Sub(s.asked) >= metacontroller.RulesKept {
		var answer rules
		if _, err := m.call(p, metacontroller.CustomizeHook, m.requestBody(p, object, nil, nil, false), &answer); err != nil {
			return nil, err
		}
		s = &selection{object.GetUID(), object.GetGeneration(), now, answer.RelatedResources}
		p.selection = s
	}
	var groups []group
	for _, rule := range s.rules {
		if rule == nil {
			return nil, fmt.Errorf("customize hook: a rule is null: Metacontroller crashes")
		}
		k, known := m.server.Resource(rule.APIVersion, rule.Resource)
		if !known {
			return nil, fmt.Errorf("discovery: can't find resource %s in apiVersion %s", rule.Resource, rule.APIVersion)
		}
		match, err := m.matcher(rule, m.within(p))
		if err != nil {
			return nil, fmt.Errorf("customize hook: %s: %w", rule.Resource, err)
		}
		groups = addMatches(groups, k, m.cache.List(k.APIVersion, k.Kind), match)
	}
	return groups, nil
}

func addMatches(groups []group, k apiserver.Kind, objects []kube.Object, match func(kube.Object) bool) []group {
	i := slices.IndexFunc(groups, func(g group) bool { return g.kind.Key() == k.Key() })
	if i < 0 {
		i = len(groups)
		groups = append(groups, group{kind: k})
	}
	known := map[kube.Ref]bool{}
	for _, object := range groups[i].objects {
		known[kube.RefOf(object)] = true
	}
	for _, object := range objects {
		if match(object) && !known[kube.RefOf(object)] {
			groups[i].objects = append(groups[i].objects, object)
		}
	}
	slices.SortFunc(groups[i].objects, func(a, b kube.Object) int { return kube.RefOf(a).Compare(kube.RefOf(b)) })
	return groups
}

// within returns the namespace of the parent if its rules may select in that one only, or "".
func (m *Metacontroller) within(p *Parent) string {
	if m.version(p.controller, metacontroller.CustomizeHook) == "v1" {
		return p.Ref.Namespace
	}
	return ""
}

func (m *Metacontroller) matcher(rule *metacontroller.Rule, within string) (func(kube.Object) bool, error) {
	if len(rule.Names) > 0 && (rule.LabelSelector != nil || rule.NamespaceSelector != nil) {
		return nil, fmt.Errorf("related rule cannot have both names and labelSelector/namespaceSelector specified")
	}
	if rule.Namespace != "" && rule.NamespaceSelector != nil {
		return nil, fmt.Errorf("related rule cannot have both namespace and namespaceSelector specified")
	}
	if within != "" && rule.NamespaceSelector != nil {
		return nil, fmt.Errorf("namespaceSelector is not supported for namespaced parent in v1 hook version")
	}
	if within != "" && rule.Namespace != "" && rule.Namespace != within {
		return nil, fmt.Errorf("requested related object namespace %s differs from parent object namespace %s", rule.Namespace, within)
	}
	selector, err := selectorOf(rule.LabelSelector)
	if err != nil {
		return nil, err
	}
	namespaces, err := selectorOf(rule.NamespaceSelector)
	if err != nil {
		return nil, err
	}
	isOutside := func(namespace string) bool {
		object := m.cache.Get(kube.Ref{APIVersion: "v1", Kind: "Namespace", Name: namespace})
		return rule.NamespaceSelector != nil && (object == nil || !namespaces.Matches(labels.Set(object.GetLabels())))
	}
	return func(object kube.Object) bool {
		namespace := object.GetNamespace()
		switch {
		case rule.Namespace != "" && namespace != "" && namespace != rule.Namespace,
			isOutside(namespace),
			within != "" && namespace != "" && namespace != within,
			len(rule.Names) > 0 && !slices.Contains(rule.Names, object.GetName()):
			return false
		}
		return selector.Matches(labels.Set(object.GetLabels()))
	}, nil
}

func selectorOf(wanted *metav1.LabelSelector) (labels.Selector, error) {
	if wanted == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(wanted)
}

// selects reports whether a parent's rules select an object. It is called for
// every change of every object, so it must be cheap.
func (m *Metacontroller) selects(p *Parent, object kube.Object) bool {
	if p.selection == nil {
		return false
	}
	for _, rule := range p.selection.rules {
		if rule == nil || rule.APIVersion != object.GetAPIVersion() {
			continue
		}
		k, known := m.server.Resource(rule.APIVersion, rule.Resource)
		if !known || k.Kind != object.GetKind() {
			continue
		}
		if match, err := m.matcher(rule, m.within(p)); err == nil && match(object) {
			return true
		}
	}
	return false
}
