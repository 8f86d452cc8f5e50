package simulate

// maxEvents is how many events a simulation may have.
const maxEvents = 500_000

// checkRoom returns the error by which a simulation that has grown too large
// ends.
func (w *World) checkRoom() error {
	if w.happened > maxEvents {
		return w.server.Overflow("more than %d changes in %d steps", maxEvents, len(w.Steps))
	}
	return w.server.Full()
}
