package simulate

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/metacontroller"
)

// composite plays Metacontroller for all operators: it watches, claims, calls
// the hooks and applies.
type composite struct {
	store *store
	// cache is what has been heard of the store: all of it, unless it is late.
	cache *cache
	// api takes the writes.
	api api
	// late is nil where nothing is late.
	late        *late
	controllers []metacontroller.Controller
	hooks       Call
	strategy    Strategy
	hookVersion string

	parents   map[Ref]*parent
	byUID     map[types.UID]*parent
	applied   map[Ref]applyState // what server-side apply remembers
	merged    map[Ref]mergedChild
	manifests map[string][]byte
	requests  int // writes that were asked of the API server
	failed    func(p *parent, reason string)
	answered  func(p *parent, answer *response)
	refused   func(p *parent, ref Ref, err error)
}

// api are the writes of Metacontroller that the API server takes.
type api interface {
	create(by actor, object Object) (Object, error)
	update(by actor, object Object) (Object, error)
	updateStatus(by actor, ref Ref, status map[string]any) (Object, error)
	delete(by actor, ref Ref, uid types.UID) error
	apply(desired Object) (Object, error)
}

// parent is what Metacontroller knows of a custom resource.
type parent struct {
	ref        Ref
	controller *metacontroller.Controller
	selection  *selection
	queued     bool
	due        time.Time // of the one pending timer, or zero
	byTimer    bool      // it was a timer that queued it
	// idle counts the timers in a row that led to nothing. A hook that asks to
	// be called every minute for ever would keep a simulation busy for ever.
	idle     int
	calls    int
	failures int
	failure  string // of the last sync
	quiet    bool   // another sync changes nothing, as Play has seen
	answer   []byte // of the last sync or finalize hook
}

// maxIdle is how many timers in a row may lead to nothing before the next are
// left out: five minutes of [metacontroller.RelatedResync], after which a teardown
// gives up what it waits for. Those after failures come at growing intervals: the
// last that counts is late enough for a hook to tell that what fails goes on failing.
const (
	maxIdle         = 11
	maxIdleFailures = 6
)

// cacheFlushInterval is Metacontroller's --cache-flush-interval, unless it is set:
// then all that it has heard of is synced. With ignoreStatusChanges it compares
// generations, labels and annotations and no UIDs (4.17.2), so that it takes a
// custom resource that was created again while the watch was interrupted for the
// old one until then.
const cacheFlushInterval = 30 * time.Minute

// observe queues the parents whom a change concerns: the object itself, its
// owner, whoever may adopt it and whoever has selected it, as it was or as it is.
func (m *composite) observe(c change) {
	if p := m.watch(c); p != nil {
		switch {
		case !onlyStatus(c):
			p.queue()
		case c.before.GetUID() != c.after.GetUID(): // a watch that was interrupted told both at once
			p.after(m.store.clock.Now(), cacheFlushInterval)
		}
	}
	// Of a child that changes hands only the new owner hears, unless the old one has
	// selected it.
	if object := cmp.Or(c.after, c.before); ownerUID(object) != "" {
		m.byUID[ownerUID(object)].queue()
	} else {
		m.byUID[types.UID(object.GetLabels()[selectorLabel])].queue()
	}
	for _, object := range []Object{c.before, c.after} {
		for _, p := range m.parents {
			if object != nil && !p.queued && m.selects(p, object) {
				p.queue()
			}
		}
	}
}

// watch returns the parent that has changed, and notes a new one.
func (m *composite) watch(c change) *parent {
	if p := m.parents[c.ref]; p != nil {
		if c.after != nil { // it may be another object of that name
			m.byUID[c.after.GetUID()] = p
		}
		return p
	}
	if c.after == nil {
		return nil
	}
	for i := range m.controllers {
		resource := m.controllers[i].Parent
		if resource.APIVersion == c.ref.APIVersion && resource.Kind == c.ref.Kind {
			p := &parent{ref: c.ref, controller: &m.controllers[i]}
			m.parents[c.ref] = p
			m.byUID[c.after.GetUID()] = p
			return p
		}
	}
	return nil
}

// onlyStatus reports whether nothing but the status and the like of a live
// object has changed. The CompositeControllers ask not to be told.
func onlyStatus(c change) bool {
	return c.before != nil && c.after != nil && c.after.GetDeletionTimestamp() == nil &&
		c.before.GetGeneration() == c.after.GetGeneration() &&
		maps.Equal(c.before.GetLabels(), c.after.GetLabels()) &&
		maps.Equal(c.before.GetAnnotations(), c.after.GetAnnotations())
}

// queue asks for a sync. There is nothing to ask for without a parent.
func (p *parent) queue() {
	if p != nil {
		p.queued, p.byTimer, p.idle = true, false, 0
	}
}

// after asks for a sync at a later time. The earliest of several counts.
func (p *parent) after(now time.Time, delay time.Duration) {
	if at := now.Add(delay); p.due.IsZero() || at.Before(p.due) {
		p.due = at
	}
}

// ordered returns the parents in the order of their names.
func (m *composite) ordered() []*parent {
	return slices.SortedFunc(maps.Values(m.parents), func(a, b *parent) int { return a.ref.compare(b.ref) })
}

// step syncs every parent that is queued or due, once.
func (m *composite) step() {
	now := m.store.clock.Now()
	var batch []*parent
	for _, p := range m.ordered() {
		if !p.queued && !p.due.IsZero() && !p.due.After(now) {
			p.queued, p.byTimer = true, true
		}
		if p.queued {
			batch = append(batch, p)
		}
	}
	for _, p := range batch {
		if m.store.full == nil {
			m.sync(p)
		}
	}
}

// sync syncs one parent, and asks for another attempt after a failure.
func (m *composite) sync(p *parent) {
	now, version, byTimer := m.store.clock.Now(), m.store.version, p.byTimer
	p.queued, p.byTimer = false, false
	if !p.due.After(now) {
		p.due = time.Time{}
	}
	object := m.cache.get(p.ref)
	if object == nil {
		p.due, p.failure = time.Time{}, ""
		return
	}
	if err := m.reconcile(p, object); err != nil {
		if p.failure != err.Error() {
			m.failed(p, err.Error())
		}
		p.failure = err.Error()
		p.after(now, time.Second<<min(p.failures, 10))
		p.failures++
	} else {
		p.failure, p.failures = "", 0
	}
	if byTimer && m.store.version == version {
		p.idle++
	} else if m.store.version != version {
		p.idle = 0
	}
}

// nextTimer returns when a parent is due that is worth waiting for, or zero.
func (m *composite) nextTimer() time.Time {
	var next time.Time
	for _, p := range m.parents {
		most := maxIdle
		if p.failures > 0 {
			most = maxIdleFailures
		}
		if p.due.IsZero() || p.idle >= most || m.cache.get(p.ref) == nil {
			continue
		}
		if next.IsZero() || p.due.Before(next) {
			next = p.due
		}
	}
	return next
}

// isBusy reports whether a parent waits for its sync, or news for its delivery.
func (m *composite) isBusy() bool {
	if m.late != nil && m.late.isBehind() {
		return true
	}
	for _, p := range m.parents {
		if p.queued {
			return true
		}
	}
	return false
}

// updateMethod returns how a kind of child is updated.
func (p *parent) updateMethod(ref Ref) metacontroller.UpdateMethod {
	for _, child := range p.controller.Children {
		if child.APIVersion == ref.APIVersion && child.Kind == ref.Kind {
			return child.Update
		}
	}
	return metacontroller.OnDelete
}

func newComposite(s *store, options Options) *composite {
	return &composite{
		store: s, cache: s.cache, api: s, controllers: options.Controllers, hooks: options.Call,
		strategy: options.Apply, hookVersion: options.HookVersion,
		answered: func(*parent, *response) {}, refused: func(*parent, Ref, error) {},
		parents: map[Ref]*parent{}, byUID: map[types.UID]*parent{},
		applied: map[Ref]applyState{}, merged: map[Ref]mergedChild{}, manifests: map[string][]byte{},
	}
}
