// Package invariants is what a PodSet keeps to whatever is late or lost. Exploration checks it, and no
// image has it.
package invariants

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/operator"
	"github.com/operetta-dev/operetta/simulation"
)

// Invariants are the invariants of a PodSet under late caches and lost writes.
func Invariants() simulation.Invariants {
	return simulation.Invariants{
		History: []simulation.History{{
			Kind: "Pod", Names: true, Fields: []string{"metadata", "spec.hostname"},
			Reason: "a Pod that replaces another has another number",
		}, {
			Kind: "Pod", More: true, Fewer: true, If: keepsOlder,
			Reason: "Pods stay of an older template, of which a new PodSet has none",
		}, {
			Kind: "PodSet", If: keepsOlder, Reason: "it is Paused while Pods of an older template wait",
		}},
		Watch: watch,
	}
}

// keepsOlder reports whether Pods of an older template may stay: as the spec says, or because
// those of the newest never become ready.
func keepsOlder(set *unstructured.Unstructured) bool {
	var s podset.PodSet
	if runtime.DefaultUnstructuredConverter.FromUnstructured(set.Object, &s) != nil {
		return false
	}
	stalled := meta.FindStatusCondition(s.Status.Conditions, operator.ConditionStalled)
	return s.Spec.Partition > 0 || s.Spec.Paused || stalled != nil && stalled.Reason == operator.ReasonDeadlineExceeded
}

// watch checks that a PodSet never has more live Pods than the largest size that was asked for,
// with what a change of the template may add.
// Pods that Metacontroller has been told to delete do not count: the API server may have refused
// it. One more is allowed for each Pod that is in neither Metacontroller's cache nor the status in
// the request: that status was lost, or is stale.
func watch() func(simulation.Write) string {
	largest := map[types.UID]int{}
	return func(w simulation.Write) string {
		if w.Is("PodSet") && w.After != nil {
			var set podset.PodSet
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(w.After.Object, &set); err == nil && set.Spec.Size != nil {
				largest[w.After.GetUID()] = max(largest[w.After.GetUID()], int(*set.Spec.Size)+surge(set.Spec))
			}
		}
		if !w.Is("Pod") || w.Before != nil || w.By != "the hook" {
			return ""
		}
		for _, owner := range w.After.GetOwnerReferences() {
			if owner.Kind != "PodSet" {
				continue
			}
			set := w.Cached(owner.APIVersion, owner.Kind, w.After.GetNamespace(), owner.Name)
			live, most := 0, largest[owner.UID]
			for _, pod := range w.List("v1", "Pod") {
				if !isLivePodOf(pod, owner.UID) || isToGo(w, pod, set) {
					continue
				}
				live++
				if pod.GetUID() != w.After.GetUID() && !isKnown(w, pod, set) {
					most++
				}
			}
			if live > most {
				return fmt.Sprintf("%s has %d live Pods, and was never to have more than %d", owner.Name, live, most)
			}
		}
		return ""
	}
}

// surge returns how many Pods a change of the template may add.
func surge(spec podset.Spec) int {
	if spec.MaxSurge == nil {
		return 0
	}
	pods, _ := intstr.GetScaledValueFromIntOrPercent(spec.MaxSurge, int(*spec.Size), true) // the CRD admits no other text
	return pods
}

// isToGo reports whether a Pod is in Metacontroller's cache and no longer in
// the hook's answer, so that it is deleted.
func isToGo(w simulation.Write, pod, set *unstructured.Unstructured) bool {
	heard := w.Cached("v1", "Pod", pod.GetNamespace(), pod.GetName())
	return heard != nil && heard.GetUID() == pod.GetUID() && set != nil && !w.IsDesired(set, pod)
}

// isKnown reports whether a Pod is in the request, as a child or in the status.
func isKnown(w simulation.Write, pod, set *unstructured.Unstructured) bool {
	heard := w.Cached("v1", "Pod", pod.GetNamespace(), pod.GetName())
	if heard != nil && heard.GetUID() == pod.GetUID() {
		return set != nil && heard.GetLabels()["controller-uid"] == string(set.GetUID())
	}
	var known podset.PodSet
	if set == nil || heard != nil || // the status may mean an earlier Pod of that name
		runtime.DefaultUnstructuredConverter.FromUnstructured(set.Object, &known) != nil {
		return false
	}
	since, isMissing := operator.MissingSince(known.Status.Conditions)
	isTold := slices.ContainsFunc(known.Status.Pending, func(n int32) bool { return fmt.Sprintf("%s-%d", known.Name, n) == pod.GetName() })
	return isTold && isMissing && w.Now.Sub(since) < operator.ChildGrace // a cache is not stale for longer
}

func isLivePodOf(pod *unstructured.Unstructured, uid types.UID) bool {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	return pod.GetDeletionTimestamp() == nil && phase != "Failed" && phase != "Succeeded" && metav1.IsControlledBy(pod, &metav1.ObjectMeta{UID: uid})
}
