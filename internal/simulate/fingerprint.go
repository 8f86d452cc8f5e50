package simulate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/simulate/fingerprint"
)

// Fingerprint returns a number that is the same for worlds that go on in the same
// way: it leaves out by which UIDs, resource versions, addresses and at what time
// they have come there, but for how long ago something was.
func (w *World) Fingerprint() uint64 {
	p := fingerprint.New(w.clock.now)
	for _, object := range w.Objects() {
		p.Line(string(w.server.JSON(object)))
	}
	m := w.composite
	if m.late != nil {
		p.Line("heard")
		for _, object := range m.cache.Objects() {
			if ref := RefOf(object); object == w.server.Get(ref) {
				p.Line("= " + ref.String())
			} else {
				p.Line(string(m.cache.JSON(object)))
			}
		}
		for _, kind := range m.late.kinds() {
			for _, n := range m.late.pending[kind] {
				p.Write(n)
			}
		}
	}
	for _, one := range m.ordered() {
		p.Line(fmt.Sprintf("%s %t %t %s %d %d", one.ref, one.queued, one.byTimer, p.After(one.due), one.idle, one.failures))
		if one.selection != nil {
			p.Line(fmt.Sprintf("%s %d %s", one.selection.uid, one.selection.generation, p.After(one.selection.asked)))
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(m.applied), Ref.Compare) {
		p.Line(fmt.Sprintf("%s %s %s %d", ref, m.applied[ref].desired, m.applied[ref].uid, m.applied[ref].generation))
	}
	w.builtin.Fingerprint(p)
	return p.Sum()
}
