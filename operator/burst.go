package operator

// How many children a hook asks for at once. An answer is built in memory, and
// Metacontroller creates its children one after the other: a hook that wants many asks
// for some of them, and for the rest when those are observed.
const (
	// MaxBurst is the largest number of children that one answer creates. It is the
	// burst of a ReplicaSet.
	MaxBurst = 500
	// MaxBurstBytes is how much the children that one answer creates may have
	// together.
	MaxBurstBytes = 16 << 20
	// FirstBurst is how many are asked for at first, of which nobody knows whether the
	// API server takes them.
	FirstBurst = 16
	// StuckBurst is how many are asked for while none appears. Each one that the API
	// server refuses costs one of the requests that all custom resources share.
	StuckBurst = 2
)

// Burst returns how many children of this many bytes an answer may create, at
// least 1. Their size is that of metacontroller.Size.
func Burst(bytes int) int { return max(1, min(MaxBurst, MaxBurstBytes/max(1, bytes))) }
