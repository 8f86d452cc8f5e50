// Package invariants is what a CatSet keeps to whatever is late or lost. Exploration checks it, and no
// image has it.
package invariants

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/simulation"
)

// Invariants are what a CatSet keeps to whatever is late or lost.
func Invariants() simulation.Invariants {
	return simulation.Invariants{
		History: []simulation.History{
			{Kind: "Pod", Again: true, Reason: "a Pod that is replaced keeps its name"},
			{Kind: "PersistentVolumeClaim", More: true, Fields: []string{"metadata", "spec"}, Reason: "a claim stays as it was made, and when its Pod is deleted"},
		},
		Watch: func() func(simulation.Write) string { return check },
	}
}

// check holds CatSets to their order, and to keeping their claims.
func check(w simulation.Write) string {
	owner := metav1.GetControllerOf(w.Object())
	if w.By != "the hook" || owner == nil || owner.Kind != "CatSet" {
		return ""
	}
	set := w.Cached(owner.APIVersion, owner.Kind, w.Object().GetNamespace(), owner.Name)
	switch isOurs := set != nil && set.GetUID() == owner.UID; {
	case !isOurs:
		return ""
	case w.Is("PersistentVolumeClaim") && w.IsDeletion() && stays(w, owner):
		return fmt.Sprintf("the claim %s is deleted, and %s stays", w.Before.GetName(), owner.Name)
	case w.Is("Pod") && w.IsDeletion():
		return deletedOutOfOrder(w, owner)
	}
	return ""
}

// stays reports whether a CatSet is there, and not being deleted.
func stays(w simulation.Write, owner *metav1.OwnerReference) bool {
	return slices.ContainsFunc(w.List(owner.APIVersion, owner.Kind), func(set *unstructured.Unstructured) bool {
		return set.GetUID() == owner.UID && set.GetDeletionTimestamp() == nil
	})
}

// deletedOutOfOrder: what is scaled down or torn down goes from the end. As Metacontroller has
// it, no Pod is being deleted, and none is after one of more replicas than are wanted.
func deletedOutOfOrder(w simulation.Write, owner *metav1.OwnerReference) string {
	set := w.Cached(owner.APIVersion, owner.Kind, w.Object().GetNamespace(), owner.Name)
	replicas, _, _ := unstructured.NestedInt64(set.Object, "spec", "replicas")
	if set.GetDeletionTimestamp() != nil {
		replicas = 0
	}
	ordinal := ordinalOf(w.Before.GetName())
	for _, pod := range w.List("v1", "Pod") {
		heard := w.Cached("v1", "Pod", pod.GetNamespace(), pod.GetName())
		if heard == nil || heard.GetUID() == w.Before.GetUID() || heard.GetLabels()["controller-uid"] != string(owner.UID) {
			continue
		}
		other := ordinalOf(heard.GetName())
		if heard.GetDeletionTimestamp() != nil && other >= 0 {
			return fmt.Sprintf("%s is deleted while %s is", w.Before.GetName(), heard.GetName())
		}
		if int64(ordinal) >= replicas && other > ordinal {
			return fmt.Sprintf("%s is deleted before %s", w.Before.GetName(), heard.GetName())
		}
	}
	return ""
}

// ordinalOf returns the number at the end of a name, or -1.
func ordinalOf(name string) int {
	ordinal, err := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
	if err != nil {
		return -1
	}
	return ordinal
}
