package modelbox

import "github.com/operetta-dev/operetta/metacontroller"

// invariants are the invariants of a ModelBox under late caches and lost writes.
func invariants() metacontroller.Invariants {
	return metacontroller.Invariants{
		History: []metacontroller.History{{
			Kind: "Deployment", Fields: []string{"spec.replicas"},
			Reason: "where the spec has no number of replicas any more, the one it had stays",
		}},
	}
}
