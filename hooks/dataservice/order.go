package dataservice

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// inOrder returns the objects of a component that may exist. While another that starts before it is
// being updated, what is observed of it is kept, and only what is missing is created. Without its
// workload all of it is as the spec says: new Pods must not read files that are older than them.
func (p *plan) inOrder(part *part, all []metacontroller.Object) []metacontroller.Object {
	differs := part.differs
	later := slices.DeleteFunc(slices.Clone(differs.NotUpdated), func(ref string) bool { return slices.Contains(differs.OtherSelector, ref) })
	if len(later) > 0 && part.workload.isMade() {
		part.updatesAfter = p.updating(part.key)
	}
	if len(part.updatesAfter) == 0 {
		p.differs.Add(differs)
		return all
	}
	isLater := func(ref string) bool { return slices.Contains(later, ref) }
	differs.NotUpdated = slices.DeleteFunc(slices.Clone(differs.NotUpdated), isLater)
	differs.Outdated = slices.DeleteFunc(slices.Clone(differs.Outdated), isLater)
	p.differs.Add(differs)
	asked := slices.Clone(all)
	for i, object := range asked {
		kind := object.GetObjectKind().GroupVersionKind()
		child, isObserved := p.request.Children.Find(kind.GroupVersion().String(), kind.Kind, object.GetName())
		if isObserved && isLater(child.Ref()) {
			asked[i] = metacontroller.Keep(child)
		}
	}
	return asked
}

// updating returns the names of the components before one, directly or not, that have yet to become
// as the spec requests and ready.
func (p *plan) updating(key string) []string {
	var names []string
	before := p.before(key)
	for _, part := range p.parts {
		if before[part.key] && !part.isSettled() {
			names = append(names, part.name)
		}
	}
	return names
}

// isSettled reports whether no update of a component goes on. One that was ready with the newest spec
// and has failed since is not part of an edit, and holds up none. Nor does a Service, which may
// have to wait for a node port of a component that comes later.
func (p *part) isSettled() bool {
	isService := func(ref string) bool { return strings.HasPrefix(ref, metacontroller.Service.Kind+"/") }
	differing := slices.DeleteFunc(slices.Concat(p.differs.Missing, p.differs.Outdated), isService)
	switch {
	case p.isReady:
		return true
	case p.isHeld(), p.rival != "", p.refused.reason != "", p.workload == nil, len(differing) > 0:
		return false
	}
	return p.workload.isReady() || p.workload.Status.HasCompleted(p.workload.rollout())
}

// before returns the components of the table that come before one, directly or not.
func (p *product) before(key string) map[string]bool {
	all := map[string]bool{}
	for _, row := range slices.Backward(p.table) {
		if row.key == key || all[row.key] {
			for _, before := range row.after {
				all[before] = true
			}
		}
	}
	return all
}

// removeInOrder returns the components that are not in the spec any more and stay for now, because
// others that come after them are not gone yet with their Pods.
func (p *plan) removeInOrder() (stays map[string]bool) {
	left := map[string]string{} // what is there of each component that goes
	for _, child := range p.observed.children {
		if key, isKnown := p.owners[child.Name]; isKnown && p.part(key) == nil && left[key] == "" {
			left[key] = child.Ref()
		}
	}
	if len(left) == 0 {
		return nil
	}
	for i := range p.observed.pods {
		pod := &p.observed.pods[i]
		key := pod.Metadata.Labels.Component
		if _, isKnown := p.stages[key]; isKnown && p.part(key) == nil && left[key] == "" && p.waitsForPod(pod) {
			left[key], p.resyncAfter = pod.Ref(), metacontroller.RelatedResync
		}
	}
	stays = map[string]bool{}
	for _, row := range slices.Backward(p.table) {
		if left[row.key] == "" {
			continue
		}
		told := ComponentStatus{Component: row.key, Name: cmp.Or(p.remembered(row.key), row.name), Message: "waiting for deletion of " + left[row.key]}
		for _, after := range p.table {
			if left[after.key] != "" && p.before(after.key)[row.key] {
				stays[row.key], p.isWaiting = true, true
				told.Message = "is deleted after " + left[after.key]
			}
		}
		p.removed = append(p.removed, told)
	}
	return stays
}

// waitsForPod reports whether a removal waits for a Pod of a component without children: until it is
// gone, but for one that nobody deletes not for good. Since when is told by Ready, which is False meanwhile.
func (p *plan) waitsForPod(pod *observedPod) bool {
	if pod.Terminating || pod.Metadata.owner() == "" {
		return pod.Terminating
	}
	ready := meta.FindStatusCondition(p.ds.Status.Conditions, operator.ConditionReady)
	return ready == nil || ready.Status == metav1.ConditionTrue || p.request.Now.Sub(ready.LastTransitionTime.Time) < unownedPodTime
}
