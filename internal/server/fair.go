package server

import (
	"context"
	"slices"
	"sync"
)

// client identifies whose turn it is. Metacontroller is one address that asks
// for all namespaces of a cluster.
type client struct {
	address   string
	namespace string // of the parent; empty until it is known
}

// fair is a semaphore with round-robin queues by address, and by namespace
// within an address: under load a client waits for one request of every other
// address, however many those have waiting. golang.org/x/sync/semaphore has a
// single queue, in which one address could make the others wait for too long.
type fair struct {
	size int64
	// each is the limit for one address, so that slow requests of one leave
	// something to the others. It is more than a request needs.
	each int64

	mu      sync.Mutex
	used    int64
	passed  int64             // granted without waiting, since a waiter was last granted something
	held    map[string]int64  // by address, if each is less than the whole
	waiting map[string]*queue // by address
	turns   []string          // the waiting addresses, the next one first
}

// waiter is a request that waits.
type waiter struct {
	amount  int64
	granted chan struct{} // closed when it has been granted
}

func newFair(size int64) *fair {
	return &fair{size: size, each: size, held: map[string]int64{}, waiting: map[string]*queue{}}
}

// newReserved returns one of which each address leaves a quarter to the others.
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
	f.grant() // a smaller request may be next
	return ctx.Err()
}

const (
	// littlePart defines a small amount: an eighth of the whole.
	littlePart = 8
	// mostPassed is how much may be granted without waiting before a waiter is
	// served, as a multiple of the whole.
	mostPassed = 4
)

// tryAcquire takes an amount that is free, if each address may have the whole.
// While others wait, it grants small amounts to namespaces without waiters:
// otherwise one that waits for a large amount would have them all refused. The
// total is limited, or the large one would wait for ever.
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

// waits reports whether a request of the client's namespace waits.
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

// grant serves the waiters in order. If there is too little for the next one,
// the others wait with it, or it would wait for ever.
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

// leave removes an address from the queue.
func (f *fair) leave(i int) {
	address := f.turns[i]
	f.turns = slices.Delete(f.turns, i, i+1)
	if len(f.waiting[address].turns) == 0 {
		delete(f.waiting, address)
	}
}

// queue are the waiters of one address, served by namespace in turns.
type queue struct {
	waiting map[string][]*waiter // by namespace, in order of arrival
	turns   []string             // the waiting namespaces, the next one first
}

func (q *queue) add(namespace string, w *waiter) {
	if len(q.waiting[namespace]) == 0 {
		q.turns = append(q.turns, namespace)
	}
	q.waiting[namespace] = append(q.waiting[namespace], w)
}

// next returns the next waiter.
func (q *queue) next() *waiter { return q.waiting[q.turns[0]][0] }

// advance removes the next waiter, and moves its namespace to the end.
func (q *queue) advance() {
	namespace, w := q.turns[0], q.next()
	q.turns = append(q.turns[1:], namespace)
	q.remove(namespace, w)
}

// giveUp removes a waiter, and reports whether it was there. If it was the next
// one, its namespace moves to the end: otherwise one with requests that are too
// large for what becomes free would block all others.
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

// remove removes a waiter, and reports whether it was there.
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
