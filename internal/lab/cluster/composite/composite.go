package composite

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Strategy is Metacontroller's apply strategy.
type Strategy string

// The strategies of Metacontroller.
const (
	DynamicApply    Strategy = "dynamic-apply"
	ServerSideApply Strategy = "server-side-apply"
)

// Options are what a Metacontroller needs.
type Options struct {
	// Controllers are the operators.
	Controllers metacontroller.Controllers
	// Installation names and prints their CompositeControllers.
	Installation manifests.Installation
	// Call calls their hooks.
	Call Call
	// Apply is the apply strategy.
	Apply Strategy
	// HookVersion is v1 or v2.
	HookVersion string
	// Late delays its caches until [Metacontroller.Deliver] and the like.
	Late bool
	// Memory is shared by simulations of the same operators.
	Memory *Memory
	// Failed is called for each sync that fails with a new error.
	Failed func(parent kube.Ref, reason string)
}

// Metacontroller watches, claims, calls the hooks and applies, for all operators.
type Metacontroller struct {
	options Options
	server  *apiserver.Server
	// cache is its cache of the API server: current, unless it is late.
	cache *apiserver.Cache
	// watched are the late kinds, as in Pod, and pending their events that are
	// not delivered yet. Without Late both are empty.
	watched map[string]bool
	pending map[string][]apiserver.Write
	// syncFault is the fault of this sync, asked is called for writes of children. Both may be nil.
	syncFault *syncFault
	asked     func(Asked) error

	parents  map[kube.Ref]*Parent
	byUID    map[types.UID]*Parent
	applied  map[kube.Ref]applyState // the state of server-side apply
	memory   *Memory
	requests int // writes to the API server
	answered func(Answer)
	refused  func(Refusal)
}

// New returns a Metacontroller that watches an API server from now on.
func New(server *apiserver.Server, options Options) *Metacontroller {
	options.Memory.begin()
	m := &Metacontroller{
		options: options, server: server, cache: apiserver.NewCache(SelectorLabel),
		answered: func(Answer) {}, refused: func(Refusal) {},
		parents: map[kube.Ref]*Parent{}, byUID: map[types.UID]*Parent{},
		applied: map[kube.Ref]applyState{}, memory: options.Memory,
	}
	if options.Late {
		m.watchLate()
		server.Watch(m.note)
	} else {
		server.Watch(m.hear)
	}
	return m
}

// Parent is Metacontroller's state of a custom resource.
type Parent struct {
	// Ref names it.
	Ref kube.Ref
	// Calls counts the calls of its hooks.
	Calls int
	// Failure is why its last sync failed, or empty.
	Failure string
	// HasMissed is set while it has not heard of a change in its cache.
	HasMissed bool

	controller *metacontroller.Controller
	selection  *selection
	queued     bool
	due        time.Time // of the one pending timer, or zero
	byTimer    bool      // it was a timer that queued it
	// idle counts timers in a row without an effect. Otherwise a hook that asks
	// to be called every minute would keep a simulation running for ever.
	idle      int
	failures  int
	requested int    // bytes of the last request
	answer    []byte // of the last sync or finalize hook
}

// maxIdle is how many timers in a row may have no effect before further ones are ignored: five
// minutes of [metacontroller.RelatedResync], after which a teardown stops waiting. Retries after
// failures back off: the last that counts is late enough for a hook to report a permanent failure.
const (
	maxIdle         = 11
	maxIdleFailures = 6
)

// cacheFlushInterval is the default of Metacontroller's --cache-flush-interval, after which
// everything in the cache is synced. With ignoreStatusChanges it compares generations, labels and
// annotations but not UIDs (4.17.2): until then it takes a custom resource that was created again
// while the watch was interrupted for the old one.
const cacheFlushInterval = 30 * time.Minute

func (m *Metacontroller) hear(w apiserver.Write) {
	if heard := m.cache.Hear(w); heard.Before != nil || heard.After != nil {
		m.observe(heard)
	}
}

// observe queues the parents that are affected by a change: the object itself,
// its owner, those that may adopt it and those that select it, before or after.
func (m *Metacontroller) observe(c apiserver.Write) {
	if p := m.watch(c); p != nil {
		switch {
		case !onlyStatus(c):
			p.queue()
		case c.Before.GetUID() != c.After.GetUID(): // an interrupted watch delivered both at once
			p.miss(m.server.Now())
		}
	}
	// If the owner of a child changes, only the new owner is queued, unless the old one selects it.
	if c.Before != nil && c.After != nil && kube.ControllerUID(c.Before) != kube.ControllerUID(c.After) {
		m.byUID[kube.ControllerUID(c.Before)].miss(m.server.Now())
	}
	if object := cmp.Or(c.After, c.Before); kube.ControllerUID(object) != "" {
		m.byUID[kube.ControllerUID(object)].queue()
	} else {
		m.byUID[types.UID(kube.Label(object, SelectorLabel))].queue()
	}
	for _, object := range []kube.Object{c.Before, c.After} {
		for _, p := range m.parents {
			if object != nil && !p.queued && m.selects(p, object) {
				p.queue()
			}
		}
	}
}

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
	controller := m.options.Controllers.Of(c.Ref.APIVersion, c.Ref.Kind)
	if controller == nil {
		return nil
	}
	p := &Parent{Ref: c.Ref, controller: controller}
	m.parents[c.Ref] = p
	m.byUID[c.After.GetUID()] = p
	return p
}

// onlyStatus reports whether only the status and the like have changed, which
// the CompositeControllers ignore.
func onlyStatus(c apiserver.Write) bool {
	if c.Before == nil || c.After == nil || c.After.GetDeletionTimestamp() != nil || c.Before.GetGeneration() != c.After.GetGeneration() {
		return false
	}
	before, _ := c.Before.Object["metadata"].(map[string]any)
	after, _ := c.After.Object["metadata"].(map[string]any)
	return kube.Equal(before["labels"], after["labels"]) && kube.Equal(before["annotations"], after["annotations"])
}

// queue queues a sync; a nil parent is ignored.
func (p *Parent) queue() {
	if p != nil {
		p.queued, p.byTimer, p.idle = true, false, 0
	}
}

// after queues a sync for later. The earliest one counts.
// miss says that the parent hears of a change only when everything in the cache is synced. It may be nil.
func (p *Parent) miss(now time.Time) {
	if p != nil {
		p.HasMissed = true
		p.after(now, cacheFlushInterval)
	}
}

func (p *Parent) after(now time.Time, delay time.Duration) {
	p.due = apiserver.Earliest(p.due, now.Add(delay))
}

// Parents returns all custom resources that were ever in the cache, in the
// order of kinds and names. They must not be modified.
func (m *Metacontroller) Parents() []*Parent {
	return slices.SortedFunc(maps.Values(m.parents), func(a, b *Parent) int { return a.Ref.Compare(b.Ref) })
}

// Step syncs every parent that is queued or due, once.
func (m *Metacontroller) Step() {
	batch := m.Ready()
	for _, p := range batch {
		p.byTimer = p.byTimer || !p.queued
		p.queued = true
	}
	for _, p := range batch {
		if m.server.Full() == nil {
			m.sync(p)
		}
	}
}

func (m *Metacontroller) sync(p *Parent) {
	now, version, byTimer := m.server.Now(), m.server.Version(), p.byTimer
	p.queued, p.byTimer, p.HasMissed = false, false, false
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
		m.server.Warn("metacontroller", object, "SyncError", "Sync error: "+p.Failure)
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

// NextTimer returns when the next parent is due, ignoring idle ones, or zero.
func (m *Metacontroller) NextTimer() time.Time {
	var next time.Time
	for _, p := range m.parents {
		// A hook that waits between its attempts has had idle timers before the failures.
		isOver := p.idle >= maxIdle || p.idle >= maxIdleFailures && p.failures > maxIdleFailures
		if !isOver && m.cache.Get(p.Ref) != nil {
			next = apiserver.Earliest(next, p.due)
		}
	}
	return next
}

// IsBusy reports whether a parent is queued, or an event is not delivered.
func (m *Metacontroller) IsBusy() bool {
	return len(m.pending) > 0 || slices.ContainsFunc(m.Parents(), func(p *Parent) bool { return p.queued })
}

func (p *Parent) isInPlace(child kube.Ref) bool {
	declared, _ := p.controller.Child(child.APIVersion, child.Kind)
	return declared.Update == metacontroller.InPlace
}
