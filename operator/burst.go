package operator

// Limits for the number of children that a hook creates at once: an answer is built in memory, and
// Metacontroller creates its children one after the other.
const (
	// MaxBurst is the largest number of children that one answer creates. It is the
	// burst of a ReplicaSet.
	MaxBurst = 500
	// FirstBurst is how many are created first, before it is known whether the
	// API server accepts them.
	FirstBurst = 16
	// StuckBurst is how many are created while none appears.
	StuckBurst = 2
)
