package controllers

import (
	"fmt"
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
	"github.com/operetta-dev/operetta/internal/simulate/fingerprint"
)

// Fingerprint prints the state of the controllers.
func (b *Builtin) Fingerprint(p *fingerprint.Printer) {
	for _, ref := range slices.SortedFunc(maps.Keys(b.queue), apiserver.Ref.Compare) {
		p.Line("looks at " + ref.String())
	}
	for _, ref := range slices.SortedFunc(maps.Keys(b.timers), apiserver.Ref.Compare) {
		p.Line(ref.String() + " at " + p.After(b.timers[ref]))
	}
	for _, ref := range slices.SortedFunc(maps.Keys(b.retries), apiserver.Ref.Compare) {
		p.Line(ref.String() + " again at " + p.After(b.retries[ref]))
	}
	for _, uid := range slices.Sorted(maps.Keys(b.lost)) {
		p.Line(fmt.Sprintf("%s has lost %d", uid, b.lost[uid]))
	}
	if b.pods != nil {
		for _, pod := range b.pods.Objects() {
			if pod != b.server.Get(apiserver.RefOf(pod)) {
				p.Line("controllers know")
				p.Line(string(b.pods.JSON(pod)))
			}
		}
		for _, w := range b.pods.pending {
			p.Line("to hear of " + w.Ref.String())
			p.Write(w)
		}
	}
	for _, uid := range b.orphans {
		p.Line("orphans of " + string(uid))
	}
}
