package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// openings is the part of the budget for the first parts of bodies. It differs
// from the other shares in that nobody can keep it from others: a body of which
// nothing more comes costs its sender nothing, so that who has enough connections
// would have it all. While somebody waits for it, those who have held a part for
// longest, without having sent all of their bodies, have to give it back.
type openings struct {
	mu      sync.Mutex
	size    int64
	free    int64
	leaving int64 // what those still hold who have been told to give it back
	holders map[*opening]bool
	waiting []*opening // the one that will hold the least comes first
	timer   *time.Timer
}

const (
	// leastOpening is what is taken before a byte of a body has come. net/http has
	// a buffer of that size for each connection, too.
	leastOpening = 4 << 10
	// openingPeace is for how long an opening is left alone, whoever waits. A body
	// of 64 KiB that is sent at once comes in a few milliseconds.
	openingPeace = 100 * time.Millisecond
)

// errCrowded is why somebody has to give back an opening.
var errCrowded = errors.New("others wait for the memory that an unfinished request holds")

// opening is what one request holds of the openings.
type opening struct {
	of      *openings
	address string                  // of the client
	leave   context.CancelCauseFunc // makes the request give it back

	amount  int64
	since   time.Time
	isSafe  bool // all of the body has come
	isLeft  bool // it has been told to give back
	wanted  int64
	granted chan struct{} // closed when what is wanted has been granted
}

func newOpenings(size int64) *openings {
	return &openings{size: size, free: size, holders: map[*opening]bool{}}
}

// take waits until there are so many bytes more.
func (o *opening) take(ctx context.Context, amount int64) error {
	all := o.of
	all.mu.Lock()
	o.wanted, o.granted = min(amount, all.size-o.amount), make(chan struct{})
	at, _ := slices.BinarySearchFunc(all.waiting, o.amount+o.wanted, func(other *opening, total int64) int {
		return cmp.Or(cmp.Compare(other.amount+other.wanted, total), -1) // behind its equals
	})
	all.waiting = slices.Insert(all.waiting, at, o)
	all.grant()
	all.mu.Unlock()
	select {
	case <-o.granted:
		return nil
	case <-ctx.Done():
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if i := slices.Index(all.waiting, o); i >= 0 {
		all.waiting = slices.Delete(all.waiting, i, i+1)
		all.grant() // what comes behind it may be smaller
	}
	return busyOrGone(ctx)
}

// give gives back all but a rest.
func (o *opening) give(rest int64) {
	all := o.of
	all.mu.Lock()
	defer all.mu.Unlock()
	back := o.amount - rest
	if back <= 0 {
		return
	}
	o.amount = rest
	all.free += back
	if o.isLeft {
		all.leaving -= back
	}
	if rest == 0 {
		delete(all.holders, o)
	}
	all.grant()
}

// keep tells that all of the body has come: what waits now is for the server to
// answer.
func (o *opening) keep() {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.isSafe = true
}

// grant gives to those who wait what there is, in their order.
func (a *openings) grant() {
	for len(a.waiting) > 0 && a.waiting[0].wanted <= a.free {
		o := a.waiting[0]
		a.waiting = slices.Delete(a.waiting, 0, 1)
		a.free -= o.wanted
		o.amount += o.wanted
		if o.isLeft {
			a.leaving += o.wanted
		}
		if !a.holders[o] {
			a.holders[o], o.since = true, time.Now()
		}
		close(o.granted)
	}
	if len(a.waiting) > 0 && a.timer == nil {
		a.timer = time.AfterFunc(openingPeace/4, a.makeRoom)
	}
}

// makeRoom tells those to give back who stand in the way of all who wait.
func (a *openings) makeRoom() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = nil
	missing := -a.free - a.leaving
	for _, o := range a.waiting {
		if !o.isLeft {
			missing += o.wanted
		}
	}
	for _, o := range a.dispensable() {
		if missing <= 0 {
			break
		}
		missing -= o.amount
		o.isLeft = true
		a.leaving += o.amount
		o.leave(errCrowded)
	}
	a.grant() // which comes again as long as somebody waits
}

// dispensable returns who can be told to give back: first those of the address
// that holds the most, and of each address those first who have held it for
// longest.
func (a *openings) dispensable() []*opening {
	var found []*opening
	held := map[string]int64{}
	for o := range a.holders {
		held[o.address] += o.amount
		if !o.isSafe && !o.isLeft && time.Since(o.since) >= openingPeace {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(x, y *opening) int {
		return cmp.Or(cmp.Compare(held[y.address], held[x.address]), x.since.Compare(y.since))
	})
	return found
}
