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

// openings is the part of the budget for the first parts of bodies. Unlike the
// other shares it can be taken away again: an unfinished body costs its sender
// nothing, so a client with enough connections could hold everything. When
// little is left, the requests that have not grown for longest must give theirs
// back, before others have to wait.
type openings struct {
	mu      sync.Mutex
	size    int64
	free    int64
	leaving int64 // held by those that have been told to give it back
	holders map[*opening]bool
	held    map[string]int64 // by address
	waiting []*opening       // the one that will hold the least comes first
	timer   *time.Timer
}

const (
	// leastOpening is what is reserved before the first byte of a body.
	// net/http also has a buffer of that size for each connection.
	leastOpening = 4 << 10
	// openingPeace is how long an opening is left alone after it has grown. A
	// body of 64 KiB that is sent at once arrives in a few milliseconds.
	openingPeace = 100 * time.Millisecond
	// waitingPeace is the same for an opening that waits until it can grow.
	waitingPeace = 250 * time.Millisecond
	// openingReserve is the part of the whole that should be free.
	openingReserve = 4
	// openingPart is the part of the whole that is a lot for one address.
	openingPart = 8
)

// errCrowded is the reason why an opening must be given back.
var errCrowded = errors.New("others wait for the memory that an unfinished request holds")

// opening is the part of the openings that one request holds.
type opening struct {
	of      *openings
	address string                  // of the client
	leave   context.CancelCauseFunc // makes the request give it back

	// isIdle is set while it waits for its sender, or for the memory of a body
	// that is not tiny. Time in which the server is busy does not count.
	isIdle atomic.Bool

	amount  int64
	since   time.Time // when it last grew
	isSafe  bool      // the whole body has arrived
	isLeft  bool      // it has been told to give it back
	wanted  int64
	granted chan struct{} // closed when what is wanted has been granted
}

func newOpenings(size int64) *openings {
	return &openings{size: size, free: size, holders: map[*opening]bool{}, held: map[string]int64{}}
}

// take waits until it holds amount more bytes.
func (o *opening) take(ctx context.Context, amount int64) error {
	all := o.of
	all.mu.Lock()
	o.wanted, o.granted = min(amount, all.size-o.amount), make(chan struct{})
	at, _ := slices.BinarySearchFunc(all.waiting, o.amount+o.wanted, func(other *opening, total int64) int {
		return cmp.Or(cmp.Compare(other.amount+other.wanted, total), -1) // after its equals
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
		all.grant() // a smaller request may be next
	}
	return busyOrGone(ctx)
}

// give gives back all but rest.
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

// keep marks that the whole body has arrived: from now on it waits for the
// server.
func (o *opening) keep() {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.isSafe = true
}

// next returns the index of the next waiter: the first one whose address does
// not hold a large part of the whole. Requests that wait for an answer keep
// theirs, and must not make other addresses wait.
func (a *openings) next() (place int) {
	for i, o := range a.waiting {
		if a.held[o.address] < a.size/openingPart {
			return i
		}
	}
	return 0
}

// grant serves the waiters in order.
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

// makeRoom tells openings to give back as much as the waiters and the reserve
// need.
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
		// A waiter that leaves also no longer wants anything.
		missing -= max(o.amount, o.waits())
		o.isLeft = true
		a.leaving += o.amount
		o.leave(errCrowded)
	}
	a.grant() // which calls this again while too little is free
}

// dispensable returns the openings that can be told to give back: first idle
// ones that do not wait for others, those of the address that holds the most,
// and of these those that have not grown for longest. Of those that wait for
// others, the largest come first.
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

// waits returns how much a waiting opening will hold, otherwise 0.
func (o *opening) waits() int64 {
	select {
	case <-o.granted:
		return 0
	default:
		return o.amount + o.wanted
	}
}
