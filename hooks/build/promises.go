package build

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/promise"
)

// Promises are what a Build keeps to whatever is late or lost.
func Promises() promise.Promises {
	return promise.Promises{
		Kind: "Build",
		History: []promise.History{
			{Kind: "Build", Reason: "a build that has failed is not tried again, and one that was done is not done again"},
			{Kind: "Job", More: true, Fewer: true, Fields: []string{"spec", "metadata"}, Reason: "older Jobs are kept for their logs up to a limit, and what does not change the build applies from the next one on"},
		},
		Watch: watch,
	}
}

// watch holds Builds to running one build at a time, unless concurrencyPolicy is
// Allow, and none again that is done. A Job is the same build as another whose
// name ends in the same hash.
func watch() func(promise.Write) string {
	allows := map[string]bool{}
	done := map[string]bool{} // by owner and name, once the status tells
	return func(w promise.Write) string {
		if w.Is("Build") && w.After != nil {
			policy, _, _ := unstructured.NestedString(w.After.Object, "spec", "concurrencyPolicy")
			allows[string(w.After.GetUID())] = allows[string(w.After.GetUID())] || policy == string(Allow)
		}
		if !w.Is("Job") || w.After == nil || len(w.After.GetOwnerReferences()) == 0 {
			return ""
		}
		owner := w.After.GetOwnerReferences()[0]
		key := string(owner.UID) + "/" + w.After.GetName()
		if owner.Kind != "Build" {
			return ""
		}
		if w.Before == nil && done[key] {
			return fmt.Sprintf("%s is built again after it was done", w.After.GetName())
		}
		done[key] = done[key] || isOver(w.After)
		if w.Before != nil || allows[string(owner.UID)] {
			return ""
		}
		for _, pod := range w.List("v1", "Pod") {
			phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
			if pod.GetLabels()[buildLabel] == owner.Name && phase != "Succeeded" && phase != "Failed" {
				return fmt.Sprintf("%s is begun while %s runs", w.After.GetName(), pod.GetName())
			}
		}
		for _, job := range w.List("batch/v1", "Job") {
			if len(job.GetOwnerReferences()) > 0 && job.GetOwnerReferences()[0].UID == owner.UID && job.GetName() != w.After.GetName() && !isOver(job) {
				return fmt.Sprintf("%s is begun beside %s", w.After.GetName(), job.GetName())
			}
		}
		return ""
	}
}

// isOver reports whether a Job has ended.
func isOver(job *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
	for _, item := range conditions {
		if c, _ := item.(map[string]any); c["status"] == "True" && (c["type"] == "Complete" || c["type"] == "Failed") {
			return true
		}
	}
	return false
}
