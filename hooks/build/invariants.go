package build

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// invariants are the invariants of a Build under late caches and lost writes.
func invariants() metacontroller.Invariants {
	return metacontroller.Invariants{
		History: []metacontroller.History{
			{Kind: "Build", Reason: "a build that has failed is not tried again, and one that was done is not done again"},
			{Kind: "Job", More: true, Fewer: true, Fields: []string{"spec", "metadata"}, Reason: "older Jobs are kept for their logs up to a limit, and what does not change the build applies from the next one on"},
		},
		Watch: watch,
	}
}

// watch checks that a Build runs one build at a time, unless concurrencyPolicy
// is Allow, and none again that has ended. Jobs whose names end in the same
// hash are the same build. Exceptions are what the hook cannot know: a Job that
// somebody else deletes, or that is replaced, before Metacontroller's cache has
// the status with its result; a Pod that is not in the cache; and a Job that is
// not in the cache and in no status, or for 30 s, which may never have been created.
func watch() func(metacontroller.Write) string {
	k := keeper{allows: map[string]bool{}, done: map[string]bool{}, ours: map[string]bool{}}
	return k.watch
}

// keeper knows of the Builds, by UID, whether they have ever had the policy Allow, and of
// their Jobs, by owner and name, which are done and which the hook has deleted.
type keeper struct {
	allows, done, ours map[string]bool
}

func (k keeper) watch(w metacontroller.Write) string {
	if w.Is("Build") && w.After != nil {
		policy, _, _ := unstructured.NestedString(w.After.Object, "spec", "concurrencyPolicy")
		k.allows[string(w.After.GetUID())] = k.allows[string(w.After.GetUID())] || policy == string(Allow)
	}
	if !w.Is("Job") || len(w.Object().GetOwnerReferences()) == 0 || w.Object().GetOwnerReferences()[0].Kind != "Build" {
		return ""
	}
	job, owner := w.Object(), w.Object().GetOwnerReferences()[0]
	key := string(owner.UID) + "/" + job.GetName()
	if w.After == nil || w.After.GetDeletionTimestamp() != nil {
		k.ours[key] = k.ours[key] || w.By == "the hook"
		if heard := cached(w, "batch/v1", job); w.By == "the hook" && heard != nil && !isOver(heard) {
			delete(k.done, key)
		}
		return ""
	}
	build := w.Cached(owner.APIVersion, owner.Kind, job.GetNamespace(), owner.Name)
	if build != nil && build.GetUID() != owner.UID {
		build = nil
	}
	if w.Before == nil && k.done[key] && (k.ours[key] || tells(build, "history", "hash", job.GetName())) {
		return fmt.Sprintf("%s is built again after it was done", job.GetName())
	}
	k.done[key] = k.done[key] || isOver(job)
	if w.Before != nil || k.allows[string(owner.UID)] || !lives(w, owner.UID) {
		return ""
	}
	return beside(w, build, owner)
}

// beside returns an error text if a Job is created beside another one of its Build, or a
// Pod of such.
func beside(w metacontroller.Write, build *unstructured.Unstructured, owner metav1.OwnerReference) string {
	name := w.After.GetName()
	for _, pod := range w.List("v1", "Pod") {
		phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
		if cached(w, "v1", pod) != nil && pod.GetLabels()[buildLabel] == owner.Name && phase != "Succeeded" && phase != "Failed" {
			return fmt.Sprintf("%s is begun while %s runs", name, pod.GetName())
		}
	}
	for _, other := range w.List("batch/v1", "Job") {
		owners := other.GetOwnerReferences()
		if len(owners) == 0 || owners[0].UID != owner.UID || other.GetName() == name || isOver(other) {
			continue
		}
		asked := ""
		if build != nil {
			asked, _, _ = unstructured.NestedString(build.Object, "status", "asked", "jobName")
		}
		isTold := asked == other.GetName() || tells(build, "active", "name", other.GetName())
		isLate := w.Now.Sub(other.GetCreationTimestamp().Time) >= operator.ChildGrace
		if cached(w, "batch/v1", other) != nil || isTold && !isLate {
			return fmt.Sprintf("%s is begun beside %s", name, other.GetName())
		}
	}
	return ""
}

// cached returns an object as Metacontroller's cache has it, or nil if it has none or that of
// another UID.
func cached(w metacontroller.Write, apiVersion string, object *unstructured.Unstructured) *unstructured.Unstructured {
	heard := w.Cached(apiVersion, object.GetKind(), object.GetNamespace(), object.GetName())
	if heard == nil || heard.GetUID() != object.GetUID() {
		return nil
	}
	return heard
}

// tells reports whether a list in a Build's status has an entry that ends the name of a Job.
func tells(build *unstructured.Unstructured, list, field, job string) bool {
	if build == nil {
		return false
	}
	entries, _, _ := unstructured.NestedSlice(build.Object, "status", list)
	return slices.ContainsFunc(entries, func(item any) bool {
		entry, _ := item.(map[string]any)
		value, _ := entry[field].(string)
		return value != "" && strings.HasSuffix(job, value)
	})
}

// lives reports whether a Build exists: the garbage collector deletes children
// of one that is gone.
func lives(w metacontroller.Write, uid types.UID) bool {
	for _, build := range w.List("ci.zt.vapi.cc/v1", "Build") {
		if build.GetUID() == uid && build.GetDeletionTimestamp() == nil {
			return true
		}
	}
	return false
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
