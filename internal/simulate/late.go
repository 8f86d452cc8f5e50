package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// late makes Metacontroller hear of changes by watches, one for each kind. Each
// tells them in order, and none when another does.
type late struct {
	composite *composite
	watched   map[string]bool // by the kind, as in Pod
	pending   map[string][]apiserver.Write
}

// newLate gives a composite a cache of its own, which is empty.
func newLate(m *composite) *late {
	l := &late{composite: m, watched: map[string]bool{"Namespace": true}, pending: map[string][]apiserver.Write{}}
	for _, controller := range m.controllers {
		l.watched[controller.Parent.Kind] = true
		for _, child := range controller.Children {
			l.watched[child.Kind] = true
		}
		for _, related := range controller.Related {
			l.watched[related.Kind] = true
		}
	}
	return l
}

// note puts a change behind those that wait for their delivery.
func (l *late) note(c apiserver.Write) {
	if !l.watched[c.Ref.Kind] {
		return
	}
	l.pending[c.Ref.Kind] = append(l.pending[c.Ref.Kind], c)
	if c.Ref.Kind == "Namespace" {
		l.deliver(c.Ref.Kind)
	}
}

// isBehind reports whether there is anything to deliver.
func (l *late) isBehind() bool { return len(l.kinds()) > 0 }

// kinds returns the kinds of which there is something to deliver, in order.
func (l *late) kinds() []string {
	var kinds []string
	for kind, list := range l.pending {
		if len(list) > 0 {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// deliver tells the next change of a kind, if there is one.
func (l *late) deliver(kind string) bool {
	list := l.pending[kind]
	if len(list) == 0 {
		return false
	}
	l.pending[kind] = list[1:]
	l.composite.hear(list[0])
	return true
}

// deliverAll tells all changes there are.
func (l *late) deliverAll() {
	for _, kind := range l.kinds() {
		for l.deliver(kind) {
			continue
		}
	}
}

// relist ends the watch of a kind and lists what there is now: states in between
// are never seen.
func (l *late) relist(kind string) {
	l.pending[kind] = nil
	cache, server := l.composite.cache, l.composite.server
	changed := map[Ref]bool{}
	for _, object := range append(cache.Objects(), server.Objects()...) {
		if ref := RefOf(object); ref.Kind == kind && cache.Get(ref) != server.Get(ref) {
			changed[ref] = true
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(changed), Ref.Compare) {
		l.composite.hear(server.Latest(ref))
	}
}

// restart makes Metacontroller begin anew: it lists all, and remembers nothing.
func (l *late) restart() {
	m := l.composite
	m.applied = map[Ref]applyState{}
	for _, p := range m.parents {
		p.selection, p.due, p.failures, p.queued, p.byTimer, p.idle = nil, time.Time{}, 0, false, false, 0
	}
	for kind := range l.watched {
		l.relist(kind)
	}
	for ref, p := range m.parents {
		if m.cache.Get(ref) != nil {
			p.queue()
		}
	}
}

// behind tells what Metacontroller has not heard of, in a few words, or nothing.
func (l *late) behind() string {
	const most = 4
	var parts []string
	for _, kind := range l.kinds() {
		words := map[Ref]string{}
		var refs []Ref
		for _, w := range l.pending[kind] {
			if words[w.Ref] == "" {
				refs = append(refs, w.Ref)
			}
			words[w.Ref] = newsOf(l.composite.cache.Get(w.Ref), w.After)
		}
		for _, ref := range refs {
			parts = append(parts, ref.String()+" "+words[ref])
		}
	}
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("and %d more", len(parts)-most))
	}
	return strings.Join(parts, ", ")
}

// newsOf says what there is to hear of an object.
func newsOf(known, now Object) string {
	switch {
	case now == nil:
		return "is gone"
	case known == nil:
		return "exists"
	case known.GetUID() != now.GetUID():
		return "is another one"
	case known.GetDeletionTimestamp() == nil && now.GetDeletionTimestamp() != nil:
		return "is being deleted"
	case known.GetGeneration() != now.GetGeneration():
		return "has another spec"
	}
	if progress := Progress(now); progress != "" && progress != Progress(known) {
		return "is " + progress
	}
	return "has changed"
}

// hearAll makes the cache what the store is.
func (m *composite) hearAll() {
	if m.late != nil {
		m.late.deliverAll()
	}
}

// ready returns the parents that can be synced now.
func (m *composite) ready() []*parent {
	now := m.server.Now()
	return slices.DeleteFunc(slices.Collect(maps.Values(m.parents)), func(p *parent) bool {
		return !p.queued && (p.due.IsZero() || p.due.After(now))
	})
}
