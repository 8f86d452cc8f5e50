package simulate

import "github.com/operetta-dev/operetta/internal/simulate/fingerprint"

// Fingerprint returns a number that is the same for worlds that go on in the same
// way: it leaves out by which UIDs, resource versions, addresses and at what time
// they have come there, but for how long ago something was.
func (w *World) Fingerprint() uint64 {
	p := fingerprint.New(w.now)
	for _, object := range w.Objects() {
		p.Line(string(w.server.JSON(object)))
	}
	w.composite.Fingerprint(p)
	w.builtin.Fingerprint(p)
	return p.Sum()
}
