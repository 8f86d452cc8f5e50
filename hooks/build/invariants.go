package build

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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
// the status with its result; a Pod that is not in the cache 5 s after its Job
// left it, or whose Job was in no status; and a Job that is not in the cache
// for 30 s, which may never have been created.
func watch() func(metacontroller.Write) string {
	allows := map[string]bool{}
	done := map[string]bool{} // by owner and name
	ours := map[string]bool{} // that the hook has deleted
	told := actives{}
	return func(w metacontroller.Write) string {
		if w.Is("Build") && w.After != nil {
			told.note(w.After, w.Now)
			policy, _, _ := unstructured.NestedString(w.After.Object, "spec", "concurrencyPolicy")
			allows[string(w.After.GetUID())] = allows[string(w.After.GetUID())] || policy == string(Allow)
		}
		if !w.Is("Job") || len(w.Object().GetOwnerReferences()) == 0 {
			return ""
		}
		if w.After == nil || w.After.GetDeletionTimestamp() != nil {
			gone := string(w.Object().GetOwnerReferences()[0].UID) + "/" + w.Object().GetName()
			ours[gone] = ours[gone] || w.By == "the hook"
			if w.By == "the hook" && !isKnownToBeOver(w) {
				delete(done, gone)
			}
			return ""
		}
		owner := w.After.GetOwnerReferences()[0]
		key := string(owner.UID) + "/" + w.After.GetName()
		if owner.Kind != "Build" {
			return ""
		}
		build := w.Cached(owner.APIVersion, owner.Kind, w.After.GetNamespace(), owner.Name)
		if w.Before == nil && done[key] && (ours[key] || tells(build, owner.UID, w.After.GetName())) {
			return fmt.Sprintf("%s is built again after it was done", w.After.GetName())
		}
		done[key] = done[key] || isOver(w.After)
		if w.Before != nil || allows[string(owner.UID)] || !lives(w, owner.UID) {
			return ""
		}
		for _, pod := range w.List("v1", "Pod") {
			phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
			known := w.Cached("v1", "Pod", pod.GetNamespace(), pod.GetName()) != nil || told.knows(build, pod, w.Now)
			if known && pod.GetLabels()[buildLabel] == owner.Name && phase != "Succeeded" && phase != "Failed" {
				return fmt.Sprintf("%s is begun while %s runs", w.After.GetName(), pod.GetName())
			}
		}
		for _, job := range w.List("batch/v1", "Job") {
			heard := w.Cached("batch/v1", "Job", job.GetNamespace(), job.GetName())
			isLate := (heard == nil || heard.GetUID() != job.GetUID()) && // of an earlier Build of the name, perhaps
				w.Now.Sub(job.GetCreationTimestamp().Time) >= operator.ChildGrace
			if len(job.GetOwnerReferences()) > 0 && job.GetOwnerReferences()[0].UID == owner.UID && job.GetName() != w.After.GetName() && !isOver(job) && !isLate {
				return fmt.Sprintf("%s is begun beside %s", w.After.GetName(), job.GetName())
			}
		}
		return ""
	}
}

// isKnownToBeOver reports whether Metacontroller's cache showed a deleted Job
// as ended.
func isKnownToBeOver(w metacontroller.Write) bool {
	job := w.Object()
	heard := w.Cached("batch/v1", "Job", job.GetNamespace(), job.GetName())
	return heard == nil || heard.GetUID() != job.GetUID() || isOver(heard)
}

// tells reports whether a Build's status contains the result of a Job.
func tells(build *unstructured.Unstructured, uid types.UID, job string) bool {
	if build == nil || build.GetUID() != uid {
		return false
	}
	history, _, _ := unstructured.NestedSlice(build.Object, "status", "history")
	for _, item := range history {
		result, _ := item.(map[string]any)
		if hash, _ := result["hash"].(string); hash != "" && strings.HasSuffix(job, hash) {
			return true
		}
	}
	return false
}

// actives are the Jobs that stored statuses of Builds have listed as active, by
// UID.
type actives map[string]*active

// active is such a Job: first listed in the status of this Build and version,
// and not listed, or listed as gone, since this time, or zero.
type active struct {
	build types.UID
	told  int
	gone  time.Time
}

// note records which Jobs a stored status lists.
func (a actives) note(build *unstructured.Unstructured, now time.Time) {
	runs := map[string]bool{}
	list, _, _ := unstructured.NestedSlice(build.Object, "status", "active")
	for _, item := range list {
		job, _ := item.(map[string]any)
		if uid, _ := job["uid"].(string); uid != "" && job["goneSince"] == nil {
			runs[uid] = true
			if a[uid] == nil {
				a[uid] = &active{build: build.GetUID(), told: versionOf(build)}
			}
		}
	}
	for uid, job := range a {
		if job.build == build.GetUID() && !runs[uid] && job.gone.IsZero() {
			job.gone = now
		}
	}
}

// knows reports whether Metacontroller's cached status, or an earlier one, has
// listed the Job of a Pod, and the Job has not been gone for 5 s since. A Build
// knows the Jobs of an earlier Build of its name only by their Pods.
func (a actives) knows(build, pod *unstructured.Unstructured, now time.Time) bool {
	return build != nil && slices.ContainsFunc(pod.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		job := a[string(owner.UID)]
		return job != nil && job.build == build.GetUID() && versionOf(build) >= job.told && (job.gone.IsZero() || now.Sub(job.gone) < 5*time.Second)
	})
}

func versionOf(object *unstructured.Unstructured) int {
	version, err := strconv.Atoi(object.GetResourceVersion())
	if err != nil {
		return 0 // a simulated one is a number
	}
	return version
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
