package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// late makes Metacontroller hear of changes by watches, one for each kind. Each
// tells them in order, and none when another does.
type late struct {
	composite *composite
	watched   map[string]bool // by the kind, as in Pod
	pending   map[string][]news
}

// news is a change that Metacontroller has not heard of yet.
type news struct {
	ref Ref
	r   *record // nil where the object is gone
}

// newLate gives a composite a cache of its own, which is empty.
func newLate(m *composite) *late {
	l := &late{composite: m, watched: map[string]bool{"Namespace": true}, pending: map[string][]news{}}
	for _, controller := range m.controllers {
		l.watched[controller.Parent.Kind] = true
		for _, child := range controller.Children {
			l.watched[child.Kind] = true
		}
		for _, related := range controller.Related {
			l.watched[related.Kind] = true
		}
	}
	m.cache = newCache()
	return l
}

// note puts a change behind those that wait for their delivery.
func (l *late) note(c change) {
	if !l.watched[c.ref.Kind] {
		return
	}
	l.pending[c.ref.Kind] = append(l.pending[c.ref.Kind], news{c.ref, l.composite.store.objects[c.ref]})
	if c.ref.Kind == "Namespace" {
		l.deliver(c.ref.Kind)
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
	l.hear(list[0].ref, list[0].r)
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

// hear makes an object what the cache has, and queues whom that concerns.
func (l *late) hear(ref Ref, r *record) {
	cache := l.composite.cache
	c := change{ref: ref, before: cache.get(ref)}
	if c.before != nil {
		cache.take(ref, c.before)
	}
	if r != nil {
		c.after = r.object
		cache.add(ref, r)
	}
	if c.before != nil || c.after != nil {
		l.composite.observe(c)
	}
}

// relist ends the watch of a kind and lists what there is now: states in between
// are never seen.
func (l *late) relist(kind string) {
	l.pending[kind] = nil
	cache, store := l.composite.cache, l.composite.store
	var refs []Ref
	for ref, r := range cache.objects {
		if ref.Kind == kind && store.objects[ref] != r {
			refs = append(refs, ref)
		}
	}
	for ref := range store.objects {
		if ref.Kind == kind && cache.objects[ref] == nil {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, Ref.compare)
	for _, ref := range refs {
		l.hear(ref, store.objects[ref])
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
		if m.cache.get(ref) != nil {
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
		for _, n := range l.pending[kind] {
			if words[n.ref] == "" {
				refs = append(refs, n.ref)
			}
			words[n.ref] = l.newsOf(n)
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
func (l *late) newsOf(n news) string {
	known := l.composite.cache.get(n.ref)
	switch {
	case n.r == nil:
		return "is gone"
	case known == nil:
		return "exists"
	case known.GetUID() != n.r.object.GetUID():
		return "is another one"
	case known.GetDeletionTimestamp() == nil && n.r.object.GetDeletionTimestamp() != nil:
		return "is being deleted"
	case known.GetGeneration() != n.r.object.GetGeneration():
		return "has another spec"
	}
	if progress := Progress(n.r.object); progress != "" && progress != Progress(known) {
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
	now := m.store.clock.Now()
	return slices.DeleteFunc(slices.Collect(maps.Values(m.parents)), func(p *parent) bool {
		return !p.queued && (p.due.IsZero() || p.due.After(now))
	})
}
