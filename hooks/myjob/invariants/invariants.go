// Package invariants is what a MyJob keeps to whatever is late or lost. Exploration checks it, and no
// image has it.
package invariants

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/simulation"
)

// Invariants are what a MyJob keeps to whatever is late or lost.
func Invariants() simulation.Invariants {
	return simulation.Invariants{
		History: []simulation.History{
			{Kind: "MyJob", Reason: "it ends as its last Pod has"},
			{Kind: "Pod", Fewer: true, More: true, Names: true, Reason: "the Pods of a MyJob that has ended are not made again, and go when its time to live is over"},
		},
		Watch: func() func(simulation.Write) string {
			return (&keeper{made: map[types.UID]types.UID{}, ran: map[string]bool{}, deleted: map[string]bool{}}).watch
		},
	}
}

// keeper holds MyJobs to running each attempt once. A second Pod may only follow one that somebody
// else deleted before Metacontroller had heard of the status that names it: until then nothing
// tells that there ever was one. Nor does a Pod count that was made for another MyJob of the same
// name, which server-side apply takes over while it goes.
type keeper struct {
	made    map[types.UID]types.UID // MyJobs by the Pod that was made for them
	ran     map[string]bool         // attempts whose Pod began to run
	deleted map[string]bool         // whose Pod the hook has deleted
}

func (k *keeper) watch(w simulation.Write) string {
	switch {
	case w.Is("MyJob") && w.After != nil:
		return revised(w)
	case !w.Is("Pod"):
		return ""
	}
	for _, owner := range w.Object().GetOwnerReferences() {
		if owner.Kind != "MyJob" {
			continue
		}
		attempt := string(owner.UID) + "/" + w.Object().GetName()
		if w.Before == nil {
			if broken := k.created(w, owner, attempt); broken != "" {
				return broken
			}
		}
		began := phaseOf(w.Object()) != "" && phaseOf(w.Object()) != "Pending" && k.made[w.Object().GetUID()] == owner.UID
		k.ran[attempt] = k.ran[attempt] || began
		k.deleted[attempt] = k.deleted[attempt] || w.By == "the hook" && w.IsDeletion()
	}
	return ""
}

// created checks a new Pod of an attempt.
func (k *keeper) created(w simulation.Write, owner metav1.OwnerReference, attempt string) string {
	k.made[w.After.GetUID()] = owner.UID
	job := w.Cached(owner.APIVersion, owner.Kind, w.After.GetNamespace(), owner.Name)
	isKnown := job != nil && job.GetUID() == owner.UID
	if name, _, _ := unstructured.NestedString(mapOf(job), "status", "podName"); k.ran[attempt] && (k.deleted[attempt] || isKnown && name == w.After.GetName()) {
		return fmt.Sprintf("%s runs a second Pod", owner.Name)
	}
	for _, other := range w.List("v1", "Pod") {
		heard := w.Cached("v1", "Pod", other.GetNamespace(), other.GetName())
		isOther := other.GetName() != w.After.GetName() && k.made[other.GetUID()] == owner.UID
		isSent := heard != nil && heard.GetLabels()["controller-uid"] == string(owner.UID)
		if isOther && isSent && phaseOf(heard) != "Failed" {
			return fmt.Sprintf("%s runs %s after %s, which has not failed", owner.Name, w.After.GetName(), other.GetName())
		}
	}
	return ""
}

func mapOf(object *unstructured.Unstructured) map[string]any {
	if object == nil {
		return nil
	}
	return object.Object
}

func phaseOf(pod *unstructured.Unstructured) string {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	return phase
}

// revised tells of a result that is not what it was, although Metacontroller had
// heard of it. Before that, a Pod that somebody deletes takes its result along.
func revised(w simulation.Write) string {
	job := w.Cached(w.After.GetAPIVersion(), w.After.GetKind(), w.After.GetNamespace(), w.After.GetName())
	if w.By != "the hook" || job == nil || job.GetUID() != w.After.GetUID() {
		return ""
	}
	known, _, _ := unstructured.NestedString(job.Object, "status", "result")
	result, _, _ := unstructured.NestedString(w.After.Object, "status", "result")
	if known != "" && known != result {
		return fmt.Sprintf("%s was %s and is %q", w.After.GetName(), known, result)
	}
	return ""
}
