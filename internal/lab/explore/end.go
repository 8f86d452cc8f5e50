package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/operator"
	"github.com/operetta-dev/operetta/simulation"
)

// settle ends all faults, lets the world come to rest and checks the result.
func (r *Run) settle() {
	if r.Broken != nil {
		return
	}
	r.World.Do(player.Action{Do: "mend"})
	r.refused = map[kube.Ref]player.Refusal{}
	if err := r.World.Play(); err != nil {
		r.checkFailures()
		r.violated(lawRest, err.Error())
		return
	}
	r.checkFailures()
	r.checkReady()
	for _, outcome := range r.World.Outcomes() {
		if outcome.Parent.GetDeletionTimestamp() == nil {
			r.checkEnd(outcome)
		}
	}
	r.checkGone()
}

// checkEnd compares the result with that of a new custom resource.
func (r *Run) checkEnd(outcome player.Outcome) {
	name := kube.RefOf(outcome.Parent).String()
	if r.checkRefused(outcome) {
		return
	}
	if outcome.Failure != "" {
		if r.isOfTemplate(outcome) {
			return
		}
		r.violated(lawAccepted, name+" fails: "+outcome.Failure)
		return
	}
	history := r.scenario.historyOf(outcome.Parent)
	fresh, is := r.scenario.freshRest(r.World, outcome.Parent), r.scenario.restOf(r.World, outcome.Parent)
	if fresh == nil || is.isBeyond(fresh, history, outcome.Parent.GetKind()) {
		return
	}
	if is.ready != fresh.ready || is.stalled != fresh.stalled {
		mayDiffer := slices.ContainsFunc(history, func(h simulation.History) bool {
			return h.Kind == outcome.Parent.GetKind() && (h.If != nil || is.hasEnded())
		})
		if mayDiffer && fresh.ready != "True" {
			return // one that has completed does not need what a new one waits for
		}
		if !mayDiffer {
			states := fmt.Sprint(outcome.Parent.GetKind(), is.ready, is.stalled, fresh.ready, fresh.stalled)
			r.violatedBy(lawSame, states, fmt.Sprintf("%s is Ready=%s Stalled=%s (%s), and a new one Ready=%s Stalled=%s (%s)",
				name, is.ready, is.stalled, is.words, fresh.ready, fresh.stalled, fresh.words))
		}
	}
	if list := is.differences(fresh, history); len(list) > 0 {
		r.violatedBy(lawSame, about(list), name+": "+tell(list))
	}
}

// checkRefused reports whether children are refused at the end for reasons
// outside the schema: their names or node ports are taken. The custom resource
// must report that. A name that another controller uses may be reported later,
// because such children are left out.
func (r *Run) checkRefused(outcome player.Outcome) bool {
	told, taken := false, ""
	parent := kube.RefOf(outcome.Parent)
	for child, refusal := range r.refused {
		if refusal.Parent != parent && !r.asked[parent][child] {
			continue // that of another custom resource, which may be a child of this one
		}
		object := r.World.Get(child)
		isPort := outcome.Failure != "" && strings.Contains(refusal.Err.Error(), "nodePort")
		if !isPort && (object == nil || kube.IsOwnedBy(object, outcome.Parent)) {
			continue
		}
		taken = child.String()
		told = told || strings.Contains(outcome.Message, child.String())
	}
	for _, child := range r.leftAlone(outcome.Parent) {
		taken = child.String()
		told = told || strings.Contains(outcome.Message, child.String()) || outcome.Reason != operator.ReasonChildBlocked
	}
	if taken != "" && (!told || outcome.Ready == "True") {
		r.violated(lawTold, fmt.Sprintf("%s is refused, and %s says Ready=%s %s: %s", taken, parent,
			outcome.Ready, outcome.Reason, outcome.Message))
	}
	return taken != "" || r.isTold(outcome)
}

// isTold reports whether a custom resource says truly that the name of a child is taken. It does
// not ask for the child each time, so that the last answer may be one without a refusal.
func (r *Run) isTold(outcome player.Outcome) bool {
	if outcome.Reason != operator.ReasonChildBlocked {
		return false
	}
	return slices.ContainsFunc(r.World.Objects(), func(object kube.Object) bool {
		return strings.Contains(outcome.Message, kube.RefOf(object).String()+" ") && !kube.IsOwnedBy(object, outcome.Parent)
	})
}

// leftAlone returns the objects of other controllers that use the names of
// children of a custom resource, which are therefore left out.
func (r *Run) leftAlone(parent kube.Object) []kube.Ref {
	var refs []kube.Ref
	for _, object := range r.World.Selected(parent) {
		owner := metav1.GetControllerOfNoCopy(object)
		declared, _ := r.scenario.controllerOf(parent).Child(object.GetAPIVersion(), object.GetKind())
		if declared.SharedName && owner != nil && owner.UID != parent.GetUID() {
			refs = append(refs, kube.RefOf(object))
		}
	}
	return refs
}

// checkGone looks for children of deleted custom resources.
func (r *Run) checkGone() {
	if r.orphans || len(r.World.Parents()) > 0 {
		return
	}
	for _, object := range r.World.Objects() {
		if r.World.IsChild(object) {
			r.violated(lawGone, kube.RefOf(object).String()+" is left behind")
		}
	}
}
