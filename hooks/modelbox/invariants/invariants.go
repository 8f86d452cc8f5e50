// Package invariants is what a ModelBox keeps to whatever is late or lost. Exploration checks it, and no
// image has it.
package invariants

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/simulation"
)

// Invariants are the invariants of a ModelBox under late caches and lost writes.
func Invariants() simulation.Invariants {
	return simulation.Invariants{
		History: []simulation.History{{
			Kind: "Deployment", Fields: []string{"spec.replicas"},
			Reason: "where the spec has no number of replicas any more, the one it had stays",
		}, {
			Kind: "ModelBox", If: isPaused,
			Reason: "a Deployment that is paused keeps the Pods that it has, and a new one has none",
		}},
	}
}

func isPaused(box *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(box.Object, "spec", "paused")
	return paused
}
