package myjob

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/metacontroller"
)

// invariants are what a MyJob keeps to whatever is late or lost.
func invariants() metacontroller.Invariants {
	return metacontroller.Invariants{
		History: []metacontroller.History{
			{Kind: "MyJob", Reason: "it ends as its one Pod has"},
			{Kind: "Pod", Fewer: true, More: true, Reason: "the Pod of a MyJob that has ended is not made again, and goes when its time to live is over"},
		},
		Watch: watch,
	}
}

// watch holds MyJobs to running once. A second Pod may only follow one that somebody else deleted
// before Metacontroller had heard of the status that names it: until then nothing tells that there
// ever was one. Nor does a Pod count that was made for another MyJob of the same name, which
// server-side apply takes over while it goes.
func watch() func(metacontroller.Write) string {
	made := map[types.UID]types.UID{} // MyJobs by the Pod that was made for them
	ran := map[types.UID]bool{}       // MyJobs whose Pod began to run
	ours := map[types.UID]bool{}      // whose Pod the hook has deleted
	return func(w metacontroller.Write) string {
		if w.Is("MyJob") && w.After != nil {
			return revised(w)
		}
		if !w.Is("Pod") {
			return ""
		}
		for _, owner := range w.Object().GetOwnerReferences() {
			if owner.Kind != "MyJob" {
				continue
			}
			job := w.Cached(owner.APIVersion, owner.Kind, w.Object().GetNamespace(), owner.Name)
			known := job != nil && job.GetUID() == owner.UID && namesPod(job)
			if w.Before == nil && ran[owner.UID] && (ours[owner.UID] || known) {
				return fmt.Sprintf("%s runs a second Pod", owner.Name)
			}
			phase, _, _ := unstructured.NestedString(w.Object().Object, "status", "phase")
			if w.Before == nil {
				made[w.After.GetUID()] = owner.UID
			}
			began := phase != "" && phase != "Pending" && made[w.Object().GetUID()] == owner.UID
			ran[owner.UID] = ran[owner.UID] || began
			ours[owner.UID] = ours[owner.UID] || w.By == "the hook" && w.IsDeletion()
		}
		return ""
	}
}

// namesPod reports whether a MyJob's status names its Pod.
func namesPod(job *unstructured.Unstructured) bool {
	name, _, _ := unstructured.NestedString(job.Object, "status", "podName")
	return name != ""
}

// revised tells of a result that is not what it was, although Metacontroller had
// heard of it. Before that, a Pod that somebody deletes takes its result along.
func revised(w metacontroller.Write) string {
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
