package apiserver

import "fmt"

// maxObjects is how many objects there may be at once: a few bytes can ask for any number.
const maxObjects = 10_000

// Full returns the error that ends the simulation once a limit was exceeded.
func (s *Server) Full() error { return s.full }

func (s *Server) overflow(format string, args ...any) error {
	if s.full == nil {
		s.full = fmt.Errorf("the simulated cluster is full: "+format+": simulate something smaller", args...)
	}
	return s.full
}

// HasRoomFor reports whether there is room for the Pods of a workload.
func (s *Server) HasRoomFor(ref Ref, pods int32) bool {
	if pods > maxObjects {
		_ = s.overflow("%s wants %d Pods, and there is room for %d objects", ref, pods, maxObjects) // it is checked after every step
	}
	return s.full == nil
}
