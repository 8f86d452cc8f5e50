package modelbox

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
)

// invariants are the invariants of a ModelBox under late caches and lost writes.
func invariants() metacontroller.Invariants {
	return metacontroller.Invariants{
		History: []metacontroller.History{{
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
