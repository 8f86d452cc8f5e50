package explore

import (
	"fmt"
	"maps"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// Run is a schedule while it is played.
type Run struct {
	// World is where it is played.
	World *player.World
	// Broken is the first violation, or nil.
	Broken *Violation

	scenario *Scenario
	played   Schedule
	checked  int                            // hook calls at the last check
	steps    int                            // that have been checked for failures
	refused  map[kube.Ref]player.Refusal    // of children that are still asked for
	asked    map[kube.Ref]map[kube.Ref]bool // the children in the last answer for a custom resource
	orphans  bool                           // children have been orphaned on purpose
	isUpset  bool                           // Pods may have been lost for another reason than an edit
	serving  map[kube.Ref]kube.Ref          // Services that led to a ready Pod before an edit, with their custom resources
}

// Play plays a schedule and then lets the world come to rest.
func (s *Scenario) Play(schedule Schedule) *Run {
	r := s.begin()
	for _, action := range schedule {
		if r.Broken != nil {
			return r
		}
		r.do(action)
	}
	r.settle()
	return r
}

// begin makes a world with the objects of the scenario.
func (s *Scenario) begin() *Run {
	r := &Run{World: s.newWorld(true), scenario: s, refused: map[kube.Ref]player.Refusal{}}
	r.watch()
	for _, object := range s.Objects {
		if err := r.World.Apply(object); err != nil {
			r.violated("the scenario", "its objects are refused: "+err.Error())
		}
	}
	return r
}

// violated records the first violation. Names and numbers in the detail make it no other one.
func (r *Run) violated(law, detail string) { r.violatedBy(law, wording(detail), detail) }

// violatedBy records the first violation, of which about says what it is about.
func (r *Run) violatedBy(law, about, detail string) {
	if r.Broken == nil {
		r.Broken = &Violation{Law: law, Detail: detail, about: about}
	}
}

// do performs one action, and checks the laws.
func (r *Run) do(action player.Action) bool {
	if action.Do == "delete" && action.Detail == "orphan" {
		r.orphans = true
	}
	r.noteServing(action)
	done := r.World.Do(action)
	r.played = append(r.played, action)
	r.checkFailures()
	if r.Broken == nil && r.World.IsCaughtUp() && r.World.Syncs() != r.checked {
		r.checked = r.World.Syncs()
		r.checkReady()
	}
	return done
}

// The laws, in the words of reports.
const (
	lawAnswers  = "a hook answers whatever its CRD admits"
	lawTwice    = "no answer names a child twice"
	lawInPlace  = "what the old and the new spec want is never deleted"
	lawReady    = "Ready is True only while it is"
	lawRest     = "it converges"
	lawAccepted = "what is asked for is accepted"
	lawSame     = "it ends as a new one would"
	lawTold     = "a child that is refused is told"
	lawGone     = "what is deleted is gone"
	lawScaled   = "no hook scales below the minimum of an autoscaler"
)

// watch registers the checks.
func (r *Run) watch() {
	for _, controller := range r.scenario.Controllers {
		if watch := r.scenario.Simulation[controller.Name()].Watch; watch != nil {
			r.keep(controller.Parent.Kind, watch())
		}
	}
	r.asked = map[kube.Ref]map[kube.Ref]bool{}
	r.World.Watch(r.written, r.answered, r.wasRefused)
}

func (r *Run) answered(answer player.Answer) {
	seen := map[kube.Ref]bool{}
	for _, child := range answer.Children {
		if seen[child] {
			r.violated(lawTwice, fmt.Sprintf("%s is asked for twice for %s", child, answer.Parent))
		}
		seen[child] = true
	}
	r.asked[answer.Parent] = seen
	maps.DeleteFunc(r.refused, func(child kube.Ref, refusal player.Refusal) bool {
		return refusal.Parent == answer.Parent && !seen[child]
	})
}

func (r *Run) wasRefused(refusal player.Refusal) {
	if !player.IsInjected(refusal.Err) {
		r.refused[refusal.Child] = refusal
	}
}

// written checks each write: Metacontroller must not delete a child that is
// updated in place and wanted by the old and the new spec.
func (r *Run) written(w player.Write) {
	r.checkScaled(w)
	r.checkServing(w)
	goes := w.Before != nil && w.Before.GetDeletionTimestamp() == nil && (w.After == nil || w.After.GetDeletionTimestamp() != nil)
	if !goes || w.By != "the hook" {
		return
	}
	for _, parent := range r.World.Parents() {
		declared, _ := r.scenario.controllerOf(parent).Child(w.Before.GetAPIVersion(), w.Before.GetKind())
		if parent.GetDeletionTimestamp() != nil || !kube.IsOwnedBy(w.Before, parent) || declared.Update != metacontroller.InPlace {
			continue
		}
		fresh := r.scenario.freshRest(r.World, parent)
		name := kube.RefOf(w.Before).String()
		if heard := r.World.Heard(kube.RefOf(parent)); heard != nil && heard.GetGeneration() != parent.GetGeneration() {
			before := r.scenario.freshRest(r.World, heard)
			if before == nil || before.children[name] == nil {
				continue // it is not wanted by the spec in Metacontroller's cache
			}
		}
		// A new one that is stuck may want what earlier children have
		// completed.
		if fresh != nil && fresh.stalled != "True" && fresh.children[name] != nil {
			r.violated(lawInPlace, name+" is deleted")
		}
	}
}

// checkFailures looks for syncs that failed because of the hook.
func (r *Run) checkFailures() {
	for ; r.steps < len(r.World.Steps); r.steps++ {
		for _, event := range r.World.Steps[r.steps].Events {
			if event.Verb != player.Failed {
				continue
			}
			for _, hook := range []string{"sync hook: ", "finalize hook: ", "customize hook: "} {
				if strings.HasPrefix(event.Detail, hook) && !strings.HasPrefix(event.Detail, hook+"503") {
					r.violated(lawAnswers, event.Detail)
				}
			}
		}
	}
}

// checkReady compares Ready=True with the objects, once all caches are current.
func (r *Run) checkReady() {
	for _, parent := range r.World.Parents() {
		observed, _, _ := unstructured.NestedInt64(parent.Object, "status", "observedGeneration")
		if parent.GetDeletionTimestamp() != nil || observed != parent.GetGeneration() ||
			kube.ConditionOf(parent, operator.ConditionReady).Status != "True" {
			continue
		}
		history := r.scenario.historyOf(parent)
		if list := unfinished(r.World.Owned(parent)); len(list) > 0 {
			r.violated(lawReady, kube.RefOf(parent).String()+" is Ready, and "+strings.Join(list, ", "))
		}
		if fresh := r.scenario.freshRest(r.World, parent); fresh != nil && fresh.ready == "True" {
			if list := r.scenario.restOf(r.World, parent).differences(fresh, history); len(list) > 0 {
				r.violatedBy(lawReady, about(list), kube.RefOf(parent).String()+" is Ready, and "+tell(list))
			}
		}
	}
}
