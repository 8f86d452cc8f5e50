package simulate

import "fmt"

// A few bytes can ask for a world of any size: a number of replicas, a custom
// resource that comes to no rest. So there is room for so much and no more.
const (
	// maxObjects is how many objects there may be at once.
	maxObjects = 10_000
	// maxText is how much text, roughly, they may hold together.
	maxText = 128 << 20
	// maxRequest is how long an object may be that the API server is sent.
	maxRequest = 3 << 20
	// maxEvents is how many events a simulation may have.
	maxEvents = 500_000
)

// overflow notes that the world is full, and returns the error by which it ends.
func (s *store) overflow(format string, args ...any) error {
	if s.full == nil {
		s.full = fmt.Errorf("the simulated cluster is full: "+format+": simulate something smaller", args...)
	}
	return s.full
}

// makeRoom refuses an object for which there is no room.
func (s *store) makeRoom(ref Ref) error {
	if s.full == nil && len(s.objects) >= maxObjects {
		return s.overflow("%s is one more than %d objects", ref, maxObjects)
	}
	return s.full
}

// weigh notes how much text comes with an object, and goes with the one in whose
// place it is.
func (s *store) weigh(ref Ref, object, old Object) {
	if object != nil {
		s.text += textOf(object.Object)
	}
	if old != nil {
		s.text -= textOf(old.Object)
	}
	if s.text > maxText {
		_ = s.overflow("with %s its objects have more than %d MiB", ref, maxText>>20) // it is looked for after every step
	}
}

// textOf returns how much text a value holds, with a few bytes for each part.
func textOf(value any) int {
	const part = 8
	switch value := value.(type) {
	case map[string]any:
		total := part
		for key, member := range value {
			total += len(key) + textOf(member)
		}
		return total
	case []any:
		total := part
		for _, item := range value {
			total += textOf(item)
		}
		return total
	case string:
		return part + len(value)
	default:
		return part
	}
}

// fits reports whether there is room for the Pods of a workload.
func (k *kubernetes) fits(ref Ref, pods int32) bool {
	if pods > maxObjects {
		_ = k.store.overflow("%s wants %d Pods, and there is room for %d objects", ref, pods, maxObjects) // it is looked for after every step
	}
	return k.store.full == nil
}

// checkRoom returns the error by which a simulation that has grown too large
// ends.
func (w *World) checkRoom() error {
	if w.happened > maxEvents {
		return w.store.overflow("more than %d changes in %d steps", maxEvents, len(w.Steps))
	}
	return w.store.full
}
