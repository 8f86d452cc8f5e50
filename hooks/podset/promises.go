package podset

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// promises are what a PodSet keeps to whatever is late or lost.
func promises() metacontroller.Promises {
	return metacontroller.Promises{
		History: []metacontroller.History{{
			Kind: "Pod", Names: true, Fields: []string{"metadata", "spec.hostname"},
			Reason: "a Pod that replaces another has another number",
		}},
		Watch: watch,
	}
}

// watch holds PodSets to their number of Pods: never more at once than the largest
// size that has been asked for, those that go left out, and those that Metacontroller
// has been told to delete: the API server may have refused it. There may be one more for
// each that Metacontroller has not heard of and of which the status by which it calls
// the hook does not tell: the status was lost, or is late itself.
func watch() func(metacontroller.Write) string {
	largest := map[string]int64{}
	return func(w metacontroller.Write) string {
		if w.Is("PodSet") && w.After != nil {
			size, _, _ := unstructured.NestedInt64(w.After.Object, "spec", "size")
			key := string(w.After.GetUID())
			largest[key] = max(largest[key], size)
		}
		if !w.Is("Pod") || w.Before != nil || w.By != "the hook" {
			return ""
		}
		for _, owner := range w.After.GetOwnerReferences() {
			if owner.Kind != "PodSet" {
				continue
			}
			set := w.Heard(owner.APIVersion, owner.Kind, w.After.GetNamespace(), owner.Name)
			live, most := 0, largest[string(owner.UID)]
			for _, pod := range w.List("v1", "Pod") {
				if !isLivePodOf(pod, string(owner.UID)) || isToGo(w, pod, set) {
					continue
				}
				live++
				if pod.GetUID() != w.After.GetUID() && !isKnown(w, pod, set) {
					most++
				}
			}
			if int64(live) > most {
				return fmt.Sprintf("%s has %d live Pods, and was never to have more than %d", owner.Name, live, most)
			}
		}
		return ""
	}
}

// isToGo reports whether Metacontroller knows of a Pod that the hook no longer asks
// for, so that it deletes it.
func isToGo(w metacontroller.Write, pod, set *unstructured.Unstructured) bool {
	heard := w.Heard("v1", "Pod", pod.GetNamespace(), pod.GetName())
	return heard != nil && heard.GetUID() == pod.GetUID() && set != nil && !w.IsAsked(set, pod)
}

// isKnown reports whether Metacontroller tells the hook of a Pod, or the status
// that it sends does.
func isKnown(w metacontroller.Write, pod, set *unstructured.Unstructured) bool {
	heard := w.Heard("v1", "Pod", pod.GetNamespace(), pod.GetName())
	if heard != nil && heard.GetUID() == pod.GetUID() {
		return set != nil && heard.GetLabels()["controller-uid"] == string(set.GetUID())
	}
	if set == nil || heard != nil { // what the status tells of is taken for the Pod of that name that was there before
		return false
	}
	pending, _, _ := unstructured.NestedSlice(set.Object, "status", "pending")
	tells := slices.ContainsFunc(pending, func(number any) bool { return fmt.Sprintf("%s-%v", set.GetName(), number) == pod.GetName() })
	return tells && !isTooLong(w, set)
}

// isTooLong reports whether a PodSet has waited for its Pods for as long as a cache
// may be late: it does not wait any longer.
func isTooLong(w metacontroller.Write, set *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(set.Object, "status", "conditions")
	for _, item := range conditions {
		if c, _ := item.(map[string]any); c["type"] == operator.ConditionChildrenObserved {
			since, err := time.Parse(time.RFC3339, fmt.Sprint(c["lastTransitionTime"]))
			return err != nil || c["status"] != "False" || w.Now.Sub(since) >= operator.ChildGrace
		}
	}
	return true
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
