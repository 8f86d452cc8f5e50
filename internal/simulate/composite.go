package simulate

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// composite plays Metacontroller for all operators: it watches, claims, calls
// the hooks and applies.
type composite struct {
	server *apiserver.Server
	// cache is what has been heard of the API server: all of it, unless it is late.
	cache *apiserver.Cache
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
	Create(by apiserver.Actor, object Object) (Object, error)
	Update(by apiserver.Actor, object Object) (Object, error)
	UpdateStatus(by apiserver.Actor, ref Ref, status map[string]any) (Object, error)
	Delete(by apiserver.Actor, ref Ref, uid types.UID) error
	Apply(desired Object) (Object, error)
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

// hear brings the cache up to a write, and queues whom that concerns.
func (m *composite) hear(w apiserver.Write) {
	if heard := m.cache.Hear(w); heard.Before != nil || heard.After != nil {
		m.observe(heard)
	}
}

// observe queues the parents whom a change concerns: the object itself, its
// owner, whoever may adopt it and whoever has selected it, as it was or as it is.
func (m *composite) observe(c apiserver.Write) {
	if p := m.watch(c); p != nil {
		switch {
		case !onlyStatus(c):
			p.queue()
		case c.Before.GetUID() != c.After.GetUID(): // a watch that was interrupted told both at once
			p.after(m.server.Now(), cacheFlushInterval)
		}
	}
	// Of a child that changes hands only the new owner hears, unless the old one has
	// selected it.
	if object := cmp.Or(c.After, c.Before); apiserver.ControllerUID(object) != "" {
		m.byUID[apiserver.ControllerUID(object)].queue()
	} else {
		m.byUID[types.UID(object.GetLabels()[selectorLabel])].queue()
	}
	for _, object := range []Object{c.Before, c.After} {
		for _, p := range m.parents {
			if object != nil && !p.queued && m.selects(p, object) {
				p.queue()
			}
		}
	}
}

// watch returns the parent that has changed, and notes a new one.
func (m *composite) watch(c apiserver.Write) *parent {
	if p := m.parents[c.Ref]; p != nil {
		if c.After != nil { // it may be another object of that name
			m.byUID[c.After.GetUID()] = p
		}
		return p
	}
	if c.After == nil {
		return nil
	}
	for i := range m.controllers {
		resource := m.controllers[i].Parent
		if resource.APIVersion == c.Ref.APIVersion && resource.Kind == c.Ref.Kind {
			p := &parent{ref: c.Ref, controller: &m.controllers[i]}
			m.parents[c.Ref] = p
			m.byUID[c.After.GetUID()] = p
			return p
		}
	}
	return nil
}

// onlyStatus reports whether nothing but the status and the like of a live
// object has changed. The CompositeControllers ask not to be told.
func onlyStatus(c apiserver.Write) bool {
	return c.Before != nil && c.After != nil && c.After.GetDeletionTimestamp() == nil &&
		c.Before.GetGeneration() == c.After.GetGeneration() &&
		maps.Equal(c.Before.GetLabels(), c.After.GetLabels()) &&
		maps.Equal(c.Before.GetAnnotations(), c.After.GetAnnotations())
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
	return slices.SortedFunc(maps.Values(m.parents), func(a, b *parent) int { return a.ref.Compare(b.ref) })
}

// step syncs every parent that is queued or due, once.
func (m *composite) step() {
	now := m.server.Now()
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
		if m.server.Full() == nil {
			m.sync(p)
		}
	}
}

// sync syncs one parent, and asks for another attempt after a failure.
func (m *composite) sync(p *parent) {
	now, version, byTimer := m.server.Now(), m.server.Version(), p.byTimer
	p.queued, p.byTimer = false, false
	if !p.due.After(now) {
		p.due = time.Time{}
	}
	object := m.cache.Get(p.ref)
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
	if byTimer && m.server.Version() == version {
		p.idle++
	} else if m.server.Version() != version {
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
		if p.due.IsZero() || p.idle >= most || m.cache.Get(p.ref) == nil {
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

func newComposite(s *apiserver.Server, options Options) *composite {
	return &composite{
		server: s, cache: apiserver.NewCache(selectorLabel), api: s, controllers: options.Controllers, hooks: options.Call,
		strategy: options.Apply, hookVersion: options.HookVersion,
		answered: func(*parent, *response) {}, refused: func(*parent, Ref, error) {},
		parents: map[Ref]*parent{}, byUID: map[types.UID]*parent{},
		applied: map[Ref]applyState{}, merged: map[Ref]mergedChild{}, manifests: map[string][]byte{},
	}
}
