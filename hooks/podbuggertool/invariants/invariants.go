// Package invariants is what a PodBuggerTool keeps to whatever is late or lost, and what its Jobs do in
// a simulation. Exploration checks it, and no image has it.
package invariants

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/simulation"
)

// Invariants are the invariants of a PodBuggerTool under late caches and lost
// writes.
func Invariants() simulation.Invariants {
	return simulation.Invariants{
		History: []simulation.History{
			{Kind: "PodBuggerTool", Reason: "a Pod whose Job has failed is not tried again"},
			{Kind: "Job", Names: true, More: true, Fewer: true, Reason: "a Job is deleted when its Pod has the container, and a failed Job stays"},
		},
		Watch: watch,
	}
}

// watch checks that a Pod gets one container of a tool, and that Role and
// RoleBinding are only created for the tool's own ServiceAccount.
func watch() func(simulation.Write) string {
	return func(w simulation.Write) string {
		if w.After == nil {
			return ""
		}
		if w.By == "the hook" && (w.Is(metacontroller.Role.Kind) || w.Is(metacontroller.RoleBinding.Kind)) {
			return watchAccess(w)
		}
		if !w.Is("Pod") {
			return ""
		}
		containers, _, _ := unstructured.NestedSlice(w.After.Object, "spec", "ephemeralContainers")
		seen := map[any]bool{}
		for _, item := range containers {
			c, _ := item.(map[string]any)
			if seen[c["name"]] {
				return fmt.Sprintf("%s has the container %s twice", w.After.GetName(), c["name"])
			}
			seen[c["name"]] = true
		}
		return ""
	}
}

// watchAccess returns an error text for a Role or RoleBinding that is written for a ServiceAccount
// that is not in Metacontroller's cache as the same tool's, or as one that it adopts in this sync.
func watchAccess(w simulation.Write) string {
	owner := metav1.GetControllerOfNoCopy(w.After)
	if owner == nil || owner.Kind != "PodBuggerTool" || isAdoption(w) {
		return ""
	}
	account := w.Cached(metacontroller.ServiceAccount.APIVersion, metacontroller.ServiceAccount.Kind, w.After.GetNamespace(), w.After.GetName())
	switch {
	case account != nil && metav1.IsControlledBy(account, &metav1.ObjectMeta{UID: owner.UID}):
	case account != nil && metav1.GetControllerOfNoCopy(account) == nil && account.GetLabels()["controller-uid"] == string(owner.UID):
	default:
		return fmt.Sprintf("%s/%s is written for a ServiceAccount that is not the tool's", w.After.GetKind(), w.After.GetName())
	}
	return ""
}

// isAdoption reports whether Metacontroller adds an owner to an object and grants nothing,
// which it does before it asks the hook.
func isAdoption(w simulation.Write) bool {
	grants := func(object *unstructured.Unstructured) []any {
		return []any{object.Object["rules"], object.Object["subjects"], object.Object["roleRef"]}
	}
	return w.Before != nil && metav1.GetControllerOfNoCopy(w.Before) == nil && equality.Semantic.DeepEqual(grants(w.Before), grants(w.After))
}
