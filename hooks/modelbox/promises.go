package modelbox

import "github.com/operetta-dev/operetta/internal/promise"

// Promises are what a ModelBox keeps to whatever is late or lost.
func Promises() promise.Promises {
	return promise.Promises{
		Kind: "ModelBox",
		History: []promise.History{{
			Kind: "Deployment", Fields: []string{"spec.replicas"},
			Reason: "where the spec has no number of replicas any more, the one it had stays",
		}},
	}
}
