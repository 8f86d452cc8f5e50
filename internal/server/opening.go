package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// openings is the part of the budget for the first parts of bodies. It differs
// from the other shares in that nobody can keep it from others: a body of which
// nothing more comes costs its sender nothing, so that who has enough connections
// would have it all. When little is left, those have to give theirs back who have
// not filled it for longest, before anybody has to wait.
type openings struct {
	mu      sync.Mutex
	size    int64
	free    int64
	leaving int64 // what those still hold who have been told to give it back
	holders map[*opening]bool
	held    map[string]int64 // by address
	waiting []*opening       // the one that will hold the least comes first
	timer   *time.Timer
}

const (
	// leastOpening is what is taken before a byte of a body has come. net/http has
	// a buffer of that size for each connection, too.
	leastOpening = 4 << 10
	// openingPeace is for how long an opening is left alone each time that it has
	// grown. A body of 64 KiB that is sent at once comes in a few milliseconds.
	openingPeace = 100 * time.Millisecond
	// waitingPeace is the same for one that waits until it can grow.
	waitingPeace = 250 * time.Millisecond
	// openingReserve is which part of all is to be free.
	openingReserve = 4
	// openingPart is which part of all is a large one for one address.
	openingPart = 8
)

// errCrowded is why somebody has to give back an opening.
var errCrowded = errors.New("others wait for the memory that an unfinished request holds")

// opening is what one request holds of the openings.
type opening struct {
	of      *openings
	address string                  // of the client
	leave   context.CancelCauseFunc // makes the request give it back

	// isIdle is set while it waits for its sender, or for the memory of a body that
	// is not tiny. A server that is busy with what has come is not the sender's fault.
	isIdle atomic.Bool

	amount  int64
	since   time.Time // it has grown last
	isSafe  bool      // all of the body has come
	isLeft  bool      // it has been told to give back
	wanted  int64
	granted chan struct{} // closed when what is wanted has been granted
}

func newOpenings(size int64) *openings {
	return &openings{size: size, free: size, holders: map[*opening]bool{}, held: map[string]int64{}}
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
	if all.held[o.address] -= back; all.held[o.address] == 0 {
		delete(all.held, o.address)
	}
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

// next returns the place of who is next: the first one whose address does not hold
// a large part of all. The requests of one address that wait to be answered keep
// theirs, and nobody else is to wait for them.
func (a *openings) next() (place int) {
	for i, o := range a.waiting {
		if a.held[o.address] < a.size/openingPart {
			return i
		}
	}
	return 0
}

// grant gives to those who wait what there is, in their order.
func (a *openings) grant() {
	for len(a.waiting) > 0 {
		place := a.next()
		o := a.waiting[place]
		if o.wanted > a.free {
			break
		}
		a.waiting = slices.Delete(a.waiting, place, place+1)
		a.free -= o.wanted
		a.held[o.address] += o.wanted
		o.amount += o.wanted
		if o.isLeft {
			a.leaving += o.wanted
		}
		a.holders[o], o.since = true, time.Now()
		close(o.granted)
	}
	if a.timer == nil && (len(a.waiting) > 0 || a.free+a.leaving < a.size/openingReserve) {
		a.timer = time.AfterFunc(openingPeace/10, a.makeRoom)
	}
}

// makeRoom tells some to give back: as many as stand in the way of those who wait
// and of the reserve.
func (a *openings) makeRoom() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = nil
	missing := a.size/openingReserve - a.free - a.leaving
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
	a.grant() // which comes here again as long as too little is free
}

// dispensable returns who can be told to give back: those first that are
// idle and do not wait for the others, of these those of the address that holds
// the most, and of these those that have not grown for longest. Of those that wait
// for the others, the largest come first.
func (a *openings) dispensable() []*opening {
	var found []*opening
	for o := range a.holders {
		peace := openingPeace
		if o.waits() > 0 {
			peace = waitingPeace
		}
		if !o.isSafe && !o.isLeft && time.Since(o.since) >= peace && (o.isIdle.Load() || o.waits() > 0) {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(x, y *opening) int {
		if xWaits, yWaits := x.waits(), y.waits(); xWaits != yWaits {
			if xWaits == 0 || yWaits == 0 {
				return cmp.Compare(xWaits, yWaits)
			}
			return cmp.Compare(yWaits, xWaits)
		}
		return cmp.Or(cmp.Compare(a.held[y.address], a.held[x.address]), x.since.Compare(y.since))
	})
	return found
}

// waits returns how much one will hold that waits for more, and else nothing.
func (o *opening) waits() int64 {
	select {
	case <-o.granted:
		return 0
	default:
		return o.amount + o.wanted
	}
}
