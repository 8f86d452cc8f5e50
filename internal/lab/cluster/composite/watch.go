package composite

import (
	"maps"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// watchLate gives each kind a watch of its own. Each delivers events in order,
// independently of the others.
func (m *Metacontroller) watchLate() {
	m.pending = map[string][]apiserver.Write{}
	m.watched = map[string]bool{"Namespace": true}
	for _, controller := range m.options.Controllers {
		m.watched[controller.Parent.Kind] = true
		for _, child := range controller.Children {
			m.watched[child.Kind] = true
		}
		for _, related := range controller.Related {
			m.watched[related.Kind] = true
		}
	}
}

func (m *Metacontroller) note(w apiserver.Write) {
	if !m.watched[w.Ref.Kind] {
		return
	}
	m.pending[w.Ref.Kind] = append(m.pending[w.Ref.Kind], w)
	if w.Ref.Is(metacontroller.Namespace) {
		m.Deliver(w.Ref.Kind)
	}
}

// PendingKinds returns the kinds with undelivered changes, in order.
func (m *Metacontroller) PendingKinds() []string {
	return slices.Sorted(maps.Keys(m.pending))
}

// Pending returns the undelivered changes of a kind, in order.
func (m *Metacontroller) Pending(kind string) []apiserver.Write { return m.pending[kind] }

// Deliver delivers the next change of a kind, and reports whether there was one.
func (m *Metacontroller) Deliver(kind string) bool {
	list := m.pending[kind]
	if len(list) == 0 {
		return false
	}
	m.pending[kind] = list[1:]
	if len(list) == 1 {
		delete(m.pending, kind)
	}
	m.hear(list[0])
	return true
}

// DeliverAll delivers all changes.
func (m *Metacontroller) DeliverAll() {
	for _, kind := range m.PendingKinds() {
		for m.Deliver(kind) {
			continue
		}
	}
}

// Heard returns an object as Metacontroller's cache has it, or nil.
func (m *Metacontroller) Heard(ref kube.Ref) kube.Object { return m.cache.Get(ref) }

// Named returns the first object of a kind and name in Metacontroller's cache.
func (m *Metacontroller) Named(kind, name string) (kube.Ref, bool) {
	return m.cache.Named(kind, name)
}

// Relist ends the watch of a kind and lists the current objects: changes in
// between are never observed.
func (m *Metacontroller) Relist(kind string) {
	delete(m.pending, kind)
	changed := map[kube.Ref]bool{}
	for _, object := range append(m.cache.Objects(), m.server.Objects()...) {
		if ref := kube.RefOf(object); ref.Kind == kind && m.cache.Get(ref) != m.server.Get(ref) {
			changed[ref] = true
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(changed), kube.Ref.Compare) {
		m.hear(m.server.Latest(ref))
	}
}

// Restart restarts Metacontroller: it lists everything, and loses its state.
func (m *Metacontroller) Restart() {
	m.applied = map[kube.Ref]applyState{}
	for _, p := range m.parents {
		p.selection, p.due, p.failures, p.queued, p.byTimer, p.idle = nil, time.Time{}, 0, false, false, 0
	}
	for kind := range m.watched {
		m.Relist(kind)
	}
	for ref, p := range m.parents {
		if m.cache.Get(ref) != nil {
			p.queue()
		}
	}
}

// Ready returns the custom resources that can be synced now, in the order of kinds and names.
func (m *Metacontroller) Ready() []*Parent {
	now := m.server.Now()
	return slices.DeleteFunc(m.Parents(), func(p *Parent) bool {
		return !p.queued && (p.due.IsZero() || p.due.After(now))
	})
}
