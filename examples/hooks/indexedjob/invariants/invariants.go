// Package invariants is what an IndexedJob keeps to whatever is late or lost. Exploration checks it, and no
// image has it.
package invariants

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/simulation"
)

// Invariants are what an IndexedJob keeps to whatever is late or lost.
func Invariants() simulation.Invariants {
	return simulation.Invariants{
		History: []simulation.History{
			{Kind: "IndexedJob", Reason: "a job that has completed does not start again"},
			{Kind: "Pod", More: true, Fewer: true, Fields: []string{"spec", "metadata"},
				Reason: "a Pod stays as it was made, and a completed job makes none"},
		},
		Watch: watch,
	}
}

// watch holds jobs to their parallelism, and to making no Pod once Metacontroller has heard that
// they are complete.
func watch() func(simulation.Write) string {
	most := map[types.UID]int64{} // the largest parallelism that was asked for
	return func(w simulation.Write) string {
		if w.Is("IndexedJob") && w.After != nil {
			parallelism, _, _ := unstructured.NestedInt64(w.After.Object, "spec", "parallelism")
			most[w.After.GetUID()] = max(most[w.After.GetUID()], parallelism)
		}
		if !w.Is("Pod") || w.Before != nil || w.By != "the hook" {
			return ""
		}
		owner := metav1.GetControllerOf(w.After)
		if owner == nil || owner.Kind != "IndexedJob" {
			return ""
		}
		if job := w.Cached(owner.APIVersion, owner.Kind, w.After.GetNamespace(), owner.Name); job != nil && job.GetUID() == owner.UID && isComplete(job) {
			return owner.Name + " is complete, and runs another Pod"
		}
		if active := activePods(w, owner.UID); active > most[owner.UID] {
			return fmt.Sprintf("%s has %d active Pods, and was never to have more than %d", owner.Name, active, most[owner.UID])
		}
		return ""
	}
}

func activePods(w simulation.Write, owner types.UID) (active int64) {
	for _, pod := range w.List("v1", "Pod") {
		phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
		if phase != "Succeeded" && phase != "Failed" && metav1.IsControlledBy(pod, &metav1.ObjectMeta{UID: owner}) {
			active++
		}
	}
	return active
}

func isComplete(job *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, _ := condition.(map[string]any); c["type"] == "Complete" && c["status"] == "True" {
			return true
		}
	}
	return false
}
