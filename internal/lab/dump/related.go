package dump

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/metacontroller"
)

// loadRelated puts what the rules of a customize hook may select into the cluster: the rules
// themselves are applied there, as Metacontroller does. What is wrong with them is told there, too.
func (s *syncer) loadRelated(answer []byte) {
	var selected struct {
		Rules []*metacontroller.Rule `json:"relatedResources"`
	}
	if json.Unmarshal(answer, &selected) != nil {
		return
	}
	for _, rule := range selected.Rules {
		if rule == nil {
			continue
		}
		k, isKnown := s.request.Server.Resource(rule.APIVersion, rule.Resource)
		selector, err := selectorOf(rule.LabelSelector)
		if !isKnown || err != nil {
			continue
		}
		if r := s.request; !s.dump.Sees(k.APIVersion, k.Kind) && !slices.Contains(r.Unread, k.Resource) && !s.hasNone(k.Resource) {
			r.Unread = append(r.Unread, k.Resource)
		}
		if rule.NamespaceSelector != nil {
			s.loadKind(metacontroller.Namespace, nil, labels.Everything())
		}
		s.loadKind(k.Resource, rule, selector)
	}
}

// hasNone reports whether a kind is empty although no object of it was read: Pods that only inform, where
// each workload of the custom resource says that it has none.
func (s *syncer) hasNone(kind metacontroller.Resource) bool {
	c := s.request.Controller
	informs := slices.ContainsFunc(c.Related, func(related metacontroller.Related) bool { return related.Informs && related.Resource == kind })
	if !informs || kind != metacontroller.Pod {
		return false
	}
	for _, child := range c.Children {
		if makesPods(child.Resource) && !s.dump.Sees(child.APIVersion, child.Kind) {
			return false
		}
	}
	count := 0
	for ref, object := range s.request.Before {
		if _, isChild := c.Child(ref.APIVersion, ref.Kind); isChild && makesPods(metacontroller.Resource{APIVersion: ref.APIVersion, Kind: ref.Kind}) {
			if rollout, isWorkload := kube.RolloutOf(object); !isWorkload || rollout.Existing > 0 || !rollout.IsObserved() {
				return false // of a Job that has ended, Pods may be left
			}
			count++
		}
	}
	return count > 0
}

// makesPods reports whether a kind makes Pods, or is one.
func makesPods(kind metacontroller.Resource) bool {
	ref := kube.Ref{APIVersion: kind.APIVersion, Kind: kind.Kind}
	return slices.ContainsFunc([]metacontroller.Resource{
		metacontroller.Pod, metacontroller.Deployment, metacontroller.ReplicaSet, metacontroller.StatefulSet, metacontroller.DaemonSet,
		metacontroller.Job, metacontroller.CronJob,
	}, ref.Is)
}

// loadKind loads the objects of a kind that a rule may select.
func (s *syncer) loadKind(kind metacontroller.Resource, rule *metacontroller.Rule, selector labels.Selector) {
	for _, e := range s.dump.matching(kind, selector) {
		ref := e.ref
		isOutside := rule != nil && (rule.Namespace != "" && ref.Namespace != "" && ref.Namespace != rule.Namespace ||
			len(rule.Names) > 0 && !slices.Contains(rule.Names, ref.Name))
		if !isOutside && selector.Matches(e.labels) {
			s.load(ref)
		}
	}
}

// matching returns the objects of a kind that a selector may match. Many custom resources ask for a
// few objects each, by a label that is the same one for all of them.
func (d *Dump) matching(kind metacontroller.Resource, selector labels.Selector) []*entry {
	requirements, _ := selector.Requirements()
	for _, requirement := range requirements {
		value, isExact := selector.RequiresExactMatch(requirement.Key())
		if !isExact {
			continue
		}
		key := kind.Key() + " " + requirement.Key()
		if d.byValue[key] == nil {
			byValue := map[string][]*entry{}
			for _, e := range d.ofKind(kind.APIVersion, kind.Kind) {
				if value, found := e.labels.Lookup(requirement.Key()); found {
					byValue[value] = append(byValue[value], e)
				}
			}
			d.byValue[key] = byValue
		}
		return d.byValue[key][value]
	}
	return d.ofKind(kind.APIVersion, kind.Kind)
}

func selectorOf(wanted *metav1.LabelSelector) (labels.Selector, error) {
	if wanted == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(wanted)
}
