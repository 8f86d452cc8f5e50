package composite

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/manifests"
	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Strategy is how Metacontroller applies children.
type Strategy string

// The strategies of Metacontroller.
const (
	DynamicApply    Strategy = "dynamic-apply"
	ServerSideApply Strategy = "server-side-apply"
)

// Options are what a Metacontroller needs.
type Options struct {
	// Controllers are the operators.
	Controllers []metacontroller.Controller
	// Installation names and prints their CompositeControllers.
	Installation manifests.Installation
	// Call is the way to their hooks.
	Call Call
	// Apply is how children are applied.
	Apply Strategy
	// HookVersion is v1 or v2.
	HookVersion string
	// Late makes it hear of changes only by [Metacontroller.Deliver] and the like.
	Late bool
	// Failed is told of each sync that fails for another reason than the one before.
	Failed func(parent apiserver.Ref, reason string)
}

// Metacontroller watches, claims, calls the hooks and applies, for all operators.
type Metacontroller struct {
	options Options
	server  *apiserver.Server
	// cache is what has been heard of the API server: all of it, unless it is late.
	cache *apiserver.Cache
	// watched are the kinds of which it hears late, as Pod, and pending what it has
	// yet to hear of them. Without, it hears of all at once.
	watched map[string]bool
	pending map[string][]apiserver.Write
	// disturbed is what goes wrong with the writes of this sync, asked is told of those
	// of children. Both may be nil.
	disturbed *disturbed
	asked     func(Asked) error

	parents   map[apiserver.Ref]*Parent
	byUID     map[types.UID]*Parent
	applied   map[apiserver.Ref]applyState // what server-side apply remembers
	merged    map[apiserver.Ref]mergedChild
	manifests map[string][]byte
	requests  int // writes that were asked of the API server
	answered  func(p *Parent, answer *response)
	refused   func(p *Parent, child apiserver.Ref, err error)
}

// New returns a Metacontroller that watches an API server from now on.
func New(server *apiserver.Server, options Options) *Metacontroller {
	m := &Metacontroller{
		options: options, server: server, cache: apiserver.NewCache(SelectorLabel),
		answered: func(*Parent, *response) {}, refused: func(*Parent, apiserver.Ref, error) {},
		parents: map[apiserver.Ref]*Parent{}, byUID: map[types.UID]*Parent{},
		applied: map[apiserver.Ref]applyState{}, merged: map[apiserver.Ref]mergedChild{}, manifests: map[string][]byte{},
	}
	if options.Late {
		m.watchLate()
		server.Watch(m.note)
	} else {
		server.Watch(m.hear)
	}
	return m
}

// Parent is what Metacontroller knows of a custom resource.
type Parent struct {
	// Ref names it.
	Ref apiserver.Ref
	// Calls counts the calls of its hooks.
	Calls int
	// Failure is why its last sync failed, or empty.
	Failure string

	controller *metacontroller.Controller
	selection  *selection
	queued     bool
	due        time.Time // of the one pending timer, or zero
	byTimer    bool      // it was a timer that queued it
	// idle counts the timers in a row that led to nothing. A hook that asks to
	// be called every minute for ever would keep a simulation busy for ever.
	idle     int
	failures int
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
func (m *Metacontroller) hear(w apiserver.Write) {
	if heard := m.cache.Hear(w); heard.Before != nil || heard.After != nil {
		m.observe(heard)
	}
}

// observe queues the parents whom a change concerns: the object itself, its
// owner, whoever may adopt it and whoever has selected it, as it was or as it is.
func (m *Metacontroller) observe(c apiserver.Write) {
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
		m.byUID[types.UID(object.GetLabels()[SelectorLabel])].queue()
	}
	for _, object := range []apiserver.Object{c.Before, c.After} {
		for _, p := range m.parents {
			if object != nil && !p.queued && m.selects(p, object) {
				p.queue()
			}
		}
	}
}

// watch returns the parent that has changed, and notes a new one.
func (m *Metacontroller) watch(c apiserver.Write) *Parent {
	if p := m.parents[c.Ref]; p != nil {
		if c.After != nil { // it may be another object of that name
			m.byUID[c.After.GetUID()] = p
		}
		return p
	}
	if c.After == nil {
		return nil
	}
	for i := range m.options.Controllers {
		resource := m.options.Controllers[i].Parent
		if resource.APIVersion == c.Ref.APIVersion && resource.Kind == c.Ref.Kind {
			p := &Parent{Ref: c.Ref, controller: &m.options.Controllers[i]}
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
func (p *Parent) queue() {
	if p != nil {
		p.queued, p.byTimer, p.idle = true, false, 0
	}
}

// after asks for a sync at a later time. The earliest of several counts.
func (p *Parent) after(now time.Time, delay time.Duration) {
	if at := now.Add(delay); p.due.IsZero() || at.Before(p.due) {
		p.due = at
	}
}

// Parents returns the custom resources that it has ever heard of, in the order of
// kinds and names. They are not to be modified.
func (m *Metacontroller) Parents() []*Parent {
	return slices.SortedFunc(maps.Values(m.parents), func(a, b *Parent) int { return a.Ref.Compare(b.Ref) })
}

// Step syncs every parent that is queued or due, once.
func (m *Metacontroller) Step() {
	now := m.server.Now()
	var batch []*Parent
	for _, p := range m.Parents() {
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
func (m *Metacontroller) sync(p *Parent) {
	now, version, byTimer := m.server.Now(), m.server.Version(), p.byTimer
	p.queued, p.byTimer = false, false
	if !p.due.After(now) {
		p.due = time.Time{}
	}
	object := m.cache.Get(p.Ref)
	if object == nil {
		p.due, p.Failure = time.Time{}, ""
		return
	}
	if err := m.reconcile(p, object); err != nil {
		if p.Failure != err.Error() {
			m.options.Failed(p.Ref, err.Error())
		}
		p.Failure = err.Error()
		p.after(now, time.Second<<min(p.failures, 10))
		p.failures++
	} else {
		p.Failure, p.failures = "", 0
	}
	if byTimer && m.server.Version() == version {
		p.idle++
	} else if m.server.Version() != version {
		p.idle = 0
	}
}

// NextTimer returns when a parent is due that is worth waiting for, or zero.
func (m *Metacontroller) NextTimer() time.Time {
	var next time.Time
	for _, p := range m.parents {
		most := maxIdle
		if p.failures > 0 {
			most = maxIdleFailures
		}
		if p.due.IsZero() || p.idle >= most || m.cache.Get(p.Ref) == nil {
			continue
		}
		if next.IsZero() || p.due.Before(next) {
			next = p.due
		}
	}
	return next
}

// IsBusy reports whether a parent waits for its sync, or news for its delivery.
func (m *Metacontroller) IsBusy() bool {
	if len(m.PendingKinds()) > 0 {
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
func (p *Parent) updateMethod(ref apiserver.Ref) metacontroller.UpdateMethod {
	for _, child := range p.controller.Children {
		if child.APIVersion == ref.APIVersion && child.Kind == ref.Kind {
			return child.Update
		}
	}
	return metacontroller.OnDelete
}
