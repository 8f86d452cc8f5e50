package podset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/promise"
)

// Promises are what a PodSet keeps to whatever is late or lost.
func Promises() promise.Promises {
	return promise.Promises{
		Kind: "PodSet",
		History: []promise.History{{
			Kind: "Pod", Names: true, Fields: []string{"metadata", "spec.hostname"},
			Reason: "a Pod that replaces another has another number",
		}},
		Watch: watch,
	}
}

// watch holds PodSets to their number of Pods: never more at once than the largest
// size that has been asked for, those that go left out, and one. That one is for
// lateness: a Pod that Metacontroller does not see go yet has its number still, and
// its replacement another one. What it does not see come yet it asks for under the
// same name, which adds none.
func watch() func(promise.Write) string {
	largest := map[string]int64{}
	return func(w promise.Write) string {
		if w.Is("PodSet") && w.After != nil {
			size, _, _ := unstructured.NestedInt64(w.After.Object, "spec", "size")
			key := string(w.After.GetUID())
			largest[key] = max(largest[key], size)
		}
		if !w.Is("Pod") || w.Before != nil || w.By != "the hook" {
			return ""
		}
		for _, owner := range w.After.GetOwnerReferences() {
			live := 0
			most := largest[string(owner.UID)]
			for _, pod := range w.List("v1", "Pod") {
				if isLivePodOf(pod, string(owner.UID)) {
					live++
				}
			}
			if owner.Kind == "PodSet" && int64(live) > most+1 {
				return fmt.Sprintf("%s has %d live Pods, and was never to have more than %d and one", owner.Name, live, most)
			}
		}
		return ""
	}
}

func isLivePodOf(pod *unstructured.Unstructured, uid string) bool {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	if pod.GetDeletionTimestamp() != nil || phase == "Failed" || phase == "Succeeded" {
		return false
	}
	for _, owner := range pod.GetOwnerReferences() {
		if string(owner.UID) == uid {
			return true
		}
	}
	return false
}
