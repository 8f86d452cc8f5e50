// Package burst bounds how many children a hook asks for at once. An answer is
// built in memory, and Metacontroller creates its children one after the other:
// a hook that wants many asks for some of them, and for the rest when those are
// observed.
package burst

const (
	// Most is the largest number of children that one answer creates. It is the
	// burst of a ReplicaSet.
	Most = 500
	// MostBytes is how much the children that one answer creates may have
	// together.
	MostBytes = 16 << 20
	// First is how many are asked for at first, of which nobody knows whether the
	// API server takes them.
	First = 16
	// Stuck is how many are asked for while none appears. Each one that the API
	// server refuses costs one of the requests that all custom resources share.
	Stuck = 2
)

// Of returns how many children of this many bytes an answer may create, at
// least 1. Their size is that of metacontroller.Size.
func Of(bytes int) int { return max(1, min(Most, MostBytes/max(1, bytes))) }
