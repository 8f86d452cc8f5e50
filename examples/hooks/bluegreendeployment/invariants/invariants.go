// Package invariants is what a BlueGreenDeployment keeps to whatever is late or lost. Exploration checks it, and no
// image has it.
package invariants

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/simulation"
)

// Invariants are what a BlueGreenDeployment keeps to whatever is late or lost.
func Invariants() simulation.Invariants {
	return simulation.Invariants{
		History: []simulation.History{
			{Kind: "Service", Fields: []string{"spec.selector.color"}, Reason: "which color is active depends on how often there was a rollout"},
			{Kind: "ReplicaSet", Fields: []string{"spec", "metadata"}, Reason: "so it does which has the Pods, and the inactive one keeps its template"},
		},
		Watch: func() func(simulation.Write) string { return activeScaledDown },
	}
}

// activeScaledDown: the hook takes no Pods from the color that the Service selects, unless none
// are wanted. What belonged to a former custom resource of the name is taken over as it comes.
func activeScaledDown(w simulation.Write) string {
	if !w.Is("ReplicaSet") || w.By != "the hook" || w.Before == nil || replicasOf(w.Before) == 0 || replicasOf(w.After) > 0 {
		return ""
	}
	for _, deployment := range w.List("ctl.enisoc.com/v1", "BlueGreenDeployment") {
		if deployment.GetDeletionTimestamp() != nil || !metav1.IsControlledBy(w.Before, deployment) || wantsNone(w, deployment) {
			continue
		}
		name, _, _ := unstructured.NestedString(deployment.Object, "spec", "service", "metadata", "name")
		for _, service := range w.List("v1", "Service") {
			color, _, _ := unstructured.NestedString(service.Object, "spec", "selector", "color")
			if service.GetName() == name && metav1.IsControlledBy(service, deployment) && w.Before.GetName() == deployment.GetName()+"-"+color {
				return fmt.Sprintf("%s is scaled to 0, and the Service selects it", w.Before.GetName())
			}
		}
	}
	return ""
}

// wantsNone reports whether a BlueGreenDeployment is to have no Pods, as it is or as
// Metacontroller has heard of it.
func wantsNone(w simulation.Write, deployment *unstructured.Unstructured) bool {
	heard := w.Cached(deployment.GetAPIVersion(), deployment.GetKind(), deployment.GetNamespace(), deployment.GetName())
	return wanted(deployment) == 0 || heard != nil && wanted(heard) == 0
}

func wanted(deployment *unstructured.Unstructured) int64 {
	replicas, _, _ := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
	return replicas
}

// replicasOf returns how many Pods a ReplicaSet is asked for: none where it is gone.
func replicasOf(set *unstructured.Unstructured) int64 {
	if set == nil || set.GetDeletionTimestamp() != nil {
		return 0
	}
	replicas, _, _ := unstructured.NestedInt64(set.Object, "spec", "replicas")
	return replicas
}
