package server

import (
	"context"
	"slices"
	"sync"
)

// client is whose turn it is. Metacontroller is one address that asks for all
// namespaces of a cluster.
type client struct {
	address   string
	namespace string // of the parent; empty as long as it is not known
}

// fair is a semaphore that is shared address by address, and within an address
// namespace by namespace. While some have to wait, each address has its turn,
// however many requests and namespaces it has waiting: others wait for one request
// of an address that sends very many, and not for all of them.
// golang.org/x/sync/semaphore, which has one queue for all, would have them wait
// until it is too late.
type fair struct {
	size int64
	// each is what one address may have of it, so that one whose requests take long
	// leaves something to the others. It is more than a request needs.
	each int64

	mu      sync.Mutex
	used    int64
	passed  int64             // given to those who did not wait, since somebody who waits was granted something
	held    map[string]int64  // by address, where each is less than all
	waiting map[string]*queue // by address
	turns   []string          // the addresses that wait, the next one first
}

// waiter is somebody who waits.
type waiter struct {
	amount  int64
	granted chan struct{} // closed when it has been granted
}

func newFair(size int64) *fair {
	return &fair{size: size, each: size, held: map[string]int64{}, waiting: map[string]*queue{}}
}

// newReserved returns one of which a quarter is left to others by each address.
func newReserved(size int64) *fair {
	f := newFair(size)
	f.each -= size / 4
	return f
}

// acquire waits for an amount. Its error is that of ctx.
func (f *fair) acquire(ctx context.Context, c client, amount int64) error {
	w := &waiter{amount, make(chan struct{})}
	f.mu.Lock()
	if f.waiting[c.address] == nil {
		f.waiting[c.address] = &queue{waiting: map[string][]*waiter{}}
		f.turns = append(f.turns, c.address)
	}
	f.waiting[c.address].add(c.namespace, w)
	f.grant()
	f.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	queue := f.waiting[c.address]
	if queue == nil || !queue.giveUp(c.namespace, w) { // it was granted at the same moment
		return nil
	}
	if len(queue.turns) == 0 {
		f.leave(slices.Index(f.turns, c.address))
	}
	f.grant() // what comes behind it may be smaller
	return ctx.Err()
}

const (
	// littlePart is which part of a whole is little: an eighth.
	littlePart = 8
	// mostPassed is how many times as much as there is is given to those who do not wait
	// before one who waits.
	mostPassed = 4
)

// tryAcquire takes an amount that is free, of one of which an address may have all. While
// others wait, that is a little for those whose namespace does not: somebody who waits for
// much would have all of them refused. They do not get it for ever, or who waits for much
// would never have it.
func (f *fair) tryAcquire(c client, amount int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.used+amount > f.size {
		return false
	}
	if len(f.turns) > 0 {
		if amount > f.size/littlePart || f.waits(c) || f.passed+amount > mostPassed*f.size {
			return false
		}
		f.passed += amount
	}
	f.used += amount
	return true
}

// waits reports whether somebody of the client's namespace waits.
func (f *fair) waits(c client) bool {
	queue := f.waiting[c.address]
	return queue != nil && len(queue.waiting[c.namespace]) > 0
}

func (f *fair) release(address string, amount int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used -= amount
	if f.each < f.size {
		if f.held[address] -= amount; f.held[address] == 0 {
			delete(f.held, address)
		}
	}
	f.grant()
}

// grant gives to those who wait what there is. Where the next one needs more than
// that, the others wait with it, or it would wait for ever.
func (f *fair) grant() {
	if len(f.turns) == 0 {
		f.passed = 0
	}
	for i := 0; i < len(f.turns); {
		address := f.turns[i]
		queue := f.waiting[address]
		next := queue.next()
		if f.held[address]+next.amount > f.each {
			i++
			continue
		}
		if f.used+next.amount > f.size {
			return
		}
		f.used += next.amount
		if f.each < f.size {
			f.held[address] += next.amount
		}
		f.passed = 0
		close(next.granted)
		queue.advance()
		if f.leave(i); len(queue.turns) > 0 {
			f.turns = append(f.turns, address)
		}
		i = 0
	}
}

// leave takes an address out of the turns.
func (f *fair) leave(i int) {
	address := f.turns[i]
	f.turns = slices.Delete(f.turns, i, i+1)
	if len(f.waiting[address].turns) == 0 {
		delete(f.waiting, address)
	}
}

// queue is those of one address who wait. Each namespace has its turn.
type queue struct {
	waiting map[string][]*waiter // by namespace, in the order in which they came
	turns   []string             // the namespaces that wait, the next one first
}

func (q *queue) add(namespace string, w *waiter) {
	if len(q.waiting[namespace]) == 0 {
		q.turns = append(q.turns, namespace)
	}
	q.waiting[namespace] = append(q.waiting[namespace], w)
}

// next returns who is the next one.
func (q *queue) next() *waiter { return q.waiting[q.turns[0]][0] }

// advance removes the next one, and puts its namespace behind the others.
func (q *queue) advance() {
	namespace, w := q.turns[0], q.next()
	q.turns = append(q.turns[1:], namespace)
	q.remove(namespace, w)
}

// giveUp removes one who waits no longer, and reports whether it was there. Where it was the
// next one, its namespace has had its turn: or one whose requests are larger than what
// comes free would keep all others waiting.
func (q *queue) giveUp(namespace string, w *waiter) bool {
	wasNext := q.next() == w
	if !q.remove(namespace, w) {
		return false
	}
	if wasNext && len(q.waiting[namespace]) > 0 {
		q.turns = append(q.turns[1:], namespace)
	}
	return true
}

// remove removes one, and reports whether it was there.
func (q *queue) remove(namespace string, w *waiter) bool {
	waiting := q.waiting[namespace]
	i := slices.Index(waiting, w)
	if i < 0 {
		return false
	}
	if q.waiting[namespace] = slices.Delete(waiting, i, i+1); len(waiting) == 1 {
		delete(q.waiting, namespace)
		q.turns = slices.DeleteFunc(q.turns, func(other string) bool { return other == namespace })
	}
	return true
}
