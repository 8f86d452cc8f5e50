package server

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// sender sends so much of a body at once, and no more, or else all of it.
type sender struct {
	address     string
	sent, whole int64
}

// send returns whether all of the body could be taken, and how long that took.
func (s sender) send(ctx context.Context, all *openings) (done bool, took time.Duration) {
	began := time.Now()
	timed, stop := context.WithTimeout(ctx, 4800*time.Millisecond)
	defer stop()
	waiting, leave := context.WithCancelCause(timed)
	defer leave(nil)
	o := &opening{of: all, address: s.address, leave: leave}
	defer o.give(0)
	for size := int64(leastOpening); ; size *= 2 {
		size = min(size, s.whole)
		if o.take(waiting, size) != nil {
			return false, time.Since(began)
		}
		o.give(size)
		if s.sent < size { // the next byte does not come
			o.isIdle.Store(true)
			slow, stop := context.WithTimeout(waiting, openingTime)
			defer stop()
			<-slow.Done()
			return false, time.Since(began)
		}
		if size == s.whole && s.sent == openingBytes { // its memory does not become free
			o.isIdle.Store(true)
			<-waiting.Done()
			return false, time.Since(began)
		}
		if size == s.whole {
			return true, time.Since(began)
		}
	}
}

// TestNobodyKeepsTheOpenings: while 2,000 connections stall after however many
// bytes, come again as soon as a refusal lets them, and are of one address or of
// many, everybody who sends all of his body has what he needs at once. The clock
// is that of the test, so that it measures who has to wait for whom and not how
// busy the machine is.
func TestNobodyKeepsTheOpenings(t *testing.T) {
	for i, sent := range []int64{1, 1025, 4097, 17_000, 33_000, openingBytes} {
		for j, addresses := range []int{1, 4, 2000} {
			if testing.Short() && (i+j)%3 != 0 {
				continue // each size once and each number of addresses twice: make cover takes each with each
			}
			t.Run(fmt.Sprintf("%d bytes from %d addresses", sent, addresses), func(t *testing.T) {
				t.Parallel()
				// A quarter of it all is a quarter of the work: make cover takes all.
				parts := map[bool]int{false: 1, true: 4}[testing.Short()]
				synctest.Test(t, func(t *testing.T) { stall(t, sent, addresses, parts) })
			})
		}
	}
}

// stall has 2,000 connections against the budget in deploy/, or a part of both.
func stall(t *testing.T, sent int64, addresses, parts int) {
	all := newOpenings(23 << 20 / int64(parts))
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for i := range 2000 / parts {
		group.Go(func() {
			for ctx.Err() == nil {
				sender{fmt.Sprint("a", i%addresses), sent, openingBytes}.send(ctx, all)
				time.Sleep(discardTime)
			}
		})
	}
	time.Sleep(1500 * time.Millisecond)
	slowest, refused := time.Duration(0), 0
	for i := range 200 {
		done, took := sender{fmt.Sprint("a", i%2), 27_000, 27_000}.send(ctx, all)
		if !done {
			refused++
		}
		slowest = max(slowest, took)
		time.Sleep(25 * time.Millisecond)
	}
	stop()
	group.Wait()
	require.Zero(t, refused)
	require.Less(t, slowest, 500*time.Millisecond)
	require.Equal(t, all.size, all.free, "all is given back")
	require.Empty(t, all.holders)
	require.Empty(t, all.waiting)
	require.Zero(t, all.leaving)
}

// TestNobodyWaitsForTheFullRequestsOfAnother: those that wait for their turn keep
// what they hold, and what becomes free is for others first.
func TestNobodyWaitsForTheFullRequestsOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newOpenings(1 << 20)
		full := &opening{of: all, address: "a"}
		require.NoError(t, full.take(t.Context(), all.size))
		full.keep()
		var order []string
		for _, next := range []struct {
			address string
			wanted  int64
		}{{"a", 4 << 10}, {"a", 4 << 10}, {"b", 8 << 10}} {
			go func() {
				o := &opening{of: all, address: next.address, leave: func(error) {}}
				if o.take(context.Background(), next.wanted) == nil {
					o.keep()
					order = append(order, next.address)
				}
			}()
			synctest.Wait()
		}
		for _, left := range []int64{8 << 10, 12 << 10, 16 << 10} {
			full.give(all.size - left)
			synctest.Wait()
		}
		require.Equal(t, []string{"b", "a", "a"}, order)
	})
}
