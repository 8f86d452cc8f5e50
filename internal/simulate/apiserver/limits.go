package apiserver

import "fmt"

// A few bytes can ask for a cluster of any size: a number of replicas, a custom
// resource that never comes to rest. So the size is limited.
const (
	// maxObjects is how many objects there may be at once.
	maxObjects = 10_000
	// maxText is the approximate size of all their texts.
	maxText = 128 << 20
	// MaxRequest is the maximal size of an object in a request, in bytes.
	MaxRequest = 3 << 20
)

// Full returns the error that ends the simulation once a limit was exceeded.
func (s *Server) Full() error { return s.full }

// Overflow records that a limit was exceeded, and returns Full.
func (s *Server) Overflow(format string, args ...any) error {
	if s.full == nil {
		s.full = fmt.Errorf("the simulated cluster is full: "+format+": simulate something smaller", args...)
	}
	return s.full
}

// HasRoomFor reports whether there is room for the Pods of a workload.
func (s *Server) HasRoomFor(ref Ref, pods int32) bool {
	if pods > maxObjects {
		_ = s.Overflow("%s wants %d Pods, and there is room for %d objects", ref, pods, maxObjects) // it is checked after every step
	}
	return s.full == nil
}

// makeRoom refuses an object above the limit.
func (s *Server) makeRoom(ref Ref) error {
	if s.full == nil && len(s.objects) >= maxObjects {
		return s.Overflow("%s is one more than %d objects", ref, maxObjects)
	}
	return s.full
}

// weigh updates the size of all texts when an object replaces another.
func (s *Server) weigh(ref Ref, object, old *stored) {
	s.text += object.weight() - old.weight()
	if s.text > maxText {
		_ = s.Overflow("with %s its objects have more than %d MiB", ref, maxText>>20) // it is checked after every step
	}
}
