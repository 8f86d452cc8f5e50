package modelbox

import "github.com/operetta-dev/operetta/metacontroller"

// promises are what a ModelBox keeps to whatever is late or lost.
func promises() metacontroller.Promises {
	return metacontroller.Promises{
		History: []metacontroller.History{{
			Kind: "Deployment", Fields: []string{"spec.replicas"},
			Reason: "where the spec has no number of replicas any more, the one it had stays",
		}},
	}
}
