package simulate

import "github.com/operetta-dev/operetta/internal/simulate/fingerprint"

// Fingerprint returns a number that is equal for worlds that will behave alike:
// it ignores UIDs, resource versions, addresses and points in time, but not how
// long ago something happened.
func (w *World) Fingerprint() uint64 {
	p := fingerprint.New(w.now)
	for _, object := range w.Objects() {
		p.Line(string(w.server.JSON(object)))
	}
	w.composite.Fingerprint(p)
	w.builtin.Fingerprint(p)
	return p.Sum()
}
