package composite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
	"github.com/operetta-dev/operetta/internal/simulate/fingerprint"
)

// Fingerprint prints the cache and the state of Metacontroller.
func (m *Metacontroller) Fingerprint(p *fingerprint.Printer) {
	if m.options.Late {
		p.Line("heard")
		for _, object := range m.cache.Objects() {
			if ref := apiserver.RefOf(object); object == m.server.Get(ref) {
				p.Line("= " + ref.String())
			} else {
				p.Line(string(m.cache.JSON(object)))
			}
		}
		for _, kind := range m.PendingKinds() {
			for _, w := range m.pending[kind] {
				p.Write(w)
			}
		}
	}
	for _, one := range m.Parents() {
		p.Line(fmt.Sprintf("%s %t %t %s %d %d", one.Ref, one.queued, one.byTimer, p.After(one.due), one.idle, one.failures))
		if one.selection != nil {
			p.Line(fmt.Sprintf("%s %d %s", one.selection.uid, one.selection.generation, p.After(one.selection.asked)))
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(m.applied), apiserver.Ref.Compare) {
		p.Line(fmt.Sprintf("%s %s %s %d", ref, m.applied[ref].desired, m.applied[ref].uid, m.applied[ref].generation))
	}
}
