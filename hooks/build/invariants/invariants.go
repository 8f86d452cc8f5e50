// Package invariants is what a Build keeps to whatever is late or lost. Exploration checks it, and no
// image has it.
package invariants

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/operator"
	"github.com/operetta-dev/operetta/simulation"
)

// Invariants are the invariants of a Build under late caches and lost writes.
func Invariants() simulation.Invariants {
	return simulation.Invariants{
		History: []simulation.History{
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
// the status with its result; a Pod that is not in the cache for 5 s, or whose Job
// the hook did not see for so long; a Job that is not in the cache for 30 s, which may never have been
// created; and the Job of a Build's first spec with its Pods, until the cache has
// a status that names it; and a Pod of a Job that went before the cache had a status that
// tells since when it is asked for.
func watch() func(simulation.Write) string {
	k := keeper{allows: map[string]bool{}, done: map[string]bool{}, ours: map[string]bool{}, made: map[types.UID]*made{}}
	return k.watch
}

// keeper knows of the Builds, by UID, whether they have ever had the policy Allow; of
// their Jobs, by owner and name, which are done and which the hook has deleted; and those
// that were made, by UID.
type keeper struct {
	allows, done, ours map[string]bool
	made               map[types.UID]*made
}

// made is a Job. It is told if it is not of a first spec, or once a status in the cache
// names it, asked for once one tells since when, and seen once one has its UID.
type made struct {
	build                   types.UID
	name                    string
	at                      time.Time
	isTold, isAsked, isSeen bool
}

func (k keeper) watch(w simulation.Write) string {
	if w.Is("Build") && w.After != nil {
		policy, _, _ := unstructured.NestedString(w.After.Object, "spec", "concurrencyPolicy")
		k.allows[string(w.After.GetUID())] = k.allows[string(w.After.GetUID())] || policy == "Allow"
		k.note(cached(w, w.After.GetAPIVersion(), w.After))
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
	if w.Before == nil && isCanceled(build, job.GetName()) {
		return fmt.Sprintf("%s is built again after it was canceled", job.GetName())
	}
	if w.Before == nil && k.done[key] && (k.ours[key] || tells(build, "history", "hash", job.GetName())) {
		return fmt.Sprintf("%s is built again after it was done", job.GetName())
	}
	k.done[key] = k.done[key] || isOver(job)
	if w.Before != nil {
		return ""
	}
	k.made[job.GetUID()] = &made{build: owner.UID, name: job.GetName(), at: w.Now, isTold: build != nil && build.GetGeneration() > 1}
	k.note(build)
	if k.allows[string(owner.UID)] || !lives(w, owner.UID) {
		return ""
	}
	return k.beside(w, owner)
}

// note records which Jobs a Build's status in Metacontroller's cache tells of.
func (k keeper) note(build *unstructured.Unstructured) {
	for uid, job := range k.made {
		if build == nil || build.GetUID() != job.build {
			continue
		}
		entry := told(build, "active", "name", job.name)
		since, _ := entry["goneSince"].(string)
		job.isTold = job.isTold || entry != nil
		job.isAsked = job.isAsked || since >= job.at.UTC().Format(time.RFC3339)
		job.isSeen = job.isSeen || entry["uid"] == string(uid)
	}
}

// beside returns an error text if a Job is created beside another one of its Build, or a
// Pod of such.
func (k keeper) beside(w simulation.Write, owner metav1.OwnerReference) string {
	name := w.After.GetName()
	for _, pod := range w.List("v1", "Pod") {
		phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
		isKnown := cached(w, "v1", pod) != nil || k.mustKnow(w, pod, owner.UID)
		if isKnown && pod.GetLabels()["build"] == owner.Name && phase != "Succeeded" && phase != "Failed" {
			return fmt.Sprintf("%s is begun while %s runs", name, pod.GetName())
		}
	}
	for _, other := range w.List("batch/v1", "Job") {
		owners := other.GetOwnerReferences()
		if len(owners) == 0 || owners[0].UID != owner.UID || other.GetName() == name || isOver(other) {
			continue
		}
		isLate := w.Now.Sub(other.GetCreationTimestamp().Time) >= operator.ChildGrace
		if cached(w, "batch/v1", other) != nil || k.made[other.GetUID()].isTold && !isLate {
			return fmt.Sprintf("%s is begun beside %s", name, other.GetName())
		}
	}
	return ""
}

// mustKnow reports whether a Build has to wait for a Pod that is not in the cache.
func (k keeper) mustKnow(w simulation.Write, pod *unstructured.Unstructured, build types.UID) bool {
	const promised = 5 * time.Second // in docs/build.md: not the hook's own constant, which may be wrong
	isNew := func(at time.Time) bool { return w.Now.Sub(at) < promised }
	return isNew(pod.GetCreationTimestamp().Time) && slices.ContainsFunc(pod.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		job := k.made[owner.UID]
		return job != nil && job.build == build && (job.isSeen || job.isAsked && isNew(job.at))
	})
}

// cached returns an object as Metacontroller's cache has it, or nil if it has none or that of
// another UID.
func cached(w simulation.Write, apiVersion string, object *unstructured.Unstructured) *unstructured.Unstructured {
	heard := w.Cached(apiVersion, object.GetKind(), object.GetNamespace(), object.GetName())
	if heard == nil || heard.GetUID() != object.GetUID() {
		return nil
	}
	return heard
}

// tells reports whether a list in a Build's status has an entry that ends the name of a Job.
func tells(build *unstructured.Unstructured, list, field, job string) bool {
	return told(build, list, field, job) != nil
}

// told returns that entry.
func told(build *unstructured.Unstructured, list, field, job string) map[string]any {
	if build == nil {
		return nil
	}
	entries, _, _ := unstructured.NestedSlice(build.Object, "status", list)
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		if value, _ := entry[field].(string); value != "" && strings.HasSuffix(job, value) {
			return entry
		}
	}
	return nil
}

// isCanceled reports whether a Build's status tells that a Job was canceled.
func isCanceled(build *unstructured.Unstructured, job string) bool {
	return told(build, "history", "hash", job)["result"] == "Canceled"
}

// lives reports whether a Build exists: the garbage collector deletes children
// of one that is gone.
func lives(w simulation.Write, uid types.UID) bool {
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
