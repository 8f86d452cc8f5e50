package server

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// asking is a fair of which somebody has all, until begin.
type asking struct {
	*fair

	order strings.Builder // in which those that ask have been granted
}

func newAsking(t *testing.T, size int64) *asking {
	f := &asking{fair: newFair(size)}
	require.NoError(t, f.acquire(t.Context(), client{address: "first"}, size))
	return f
}

// ask asks behind all that have asked before, for a second, and writes down who it
// was.
func (f *asking) ask(who string, c client, amount int64) {
	go func() {
		if f.acquire(context.Background(), c, amount) == nil {
			f.order.WriteString(who)
			time.Sleep(time.Second)
			f.release(c.address, amount)
		}
	}()
	synctest.Wait()
}

// requireOrder gives away what somebody has, and fails unless all have been granted
// in this order and all is free again.
func (f *asking) requireOrder(t *testing.T, want string) {
	t.Helper()
	require.False(t, f.tryAcquire(client{address: "other"}, 1))
	f.release("first", f.size)
	time.Sleep(time.Hour)
	synctest.Wait()
	require.Equal(t, want, f.order.String())
	require.True(t, f.tryAcquire(client{}, f.size), "all is free again")
	require.False(t, f.tryAcquire(client{address: "other"}, 1))
	require.Empty(t, f.waiting)
	require.Empty(t, f.turns)
}

// TestFairHasTurns: one address waits for one request of each other address, and for
// all of its own that came before.
func TestFairHasTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAsking(t, 2)
		for range 5 {
			f.ask("a", client{address: "a"}, 2)
		}
		f.ask("b", client{address: "b"}, 2)
		f.ask("b", client{address: "b"}, 2)
		f.ask("c", client{address: "c"}, 1)
		f.requireOrder(t, "abcabaaa")
	})
}

// TestFairHasTurnsOfNamespaces: within an address, one namespace waits for one
// request of each other one.
func TestFairHasTurnsOfNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAsking(t, 1)
		for range 5 {
			f.ask("x", client{"a", "x"}, 1)
		}
		f.ask("y", client{"a", "y"}, 1)
		f.ask("y", client{"a", "y"}, 1)
		f.ask("z", client{"a", "z"}, 1)
		f.requireOrder(t, "xyzxyxxx")
	})
}

// TestManyNamespacesAreOneAddress: who has very many of them has no more turns than
// another address that has one, also where they are called the same.
func TestManyNamespacesAreOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAsking(t, 1)
		for i := range 100 {
			f.ask("a", client{"a", strconv.Itoa(i)}, 1)
		}
		f.ask("b", client{"b", "0"}, 1)
		f.ask("b", client{"b", "0"}, 1)
		f.ask("b", client{"b", "1"}, 1)
		f.requireOrder(t, "ababab"+strings.Repeat("a", 97))
	})
}

// TestFairForgetsNamespacesThatGiveUp: a namespace whose requests have gone has no
// turn, one that has others waiting has had it, and the others keep their places.
func TestFairForgetsNamespacesThatGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAsking(t, 1)
		left := 0
		leave := func(c client) {
			left++
			impatient, stop := context.WithTimeout(t.Context(), time.Duration(left)*time.Second)
			t.Cleanup(stop)
			go func() { _ = f.acquire(impatient, c, 1) }()
			synctest.Wait()
		}
		leave(client{"a", "gone"})
		leave(client{"a", "x"})
		f.ask("x", client{"a", "x"}, 1)
		leave(client{"a", "gone"})
		f.ask("y", client{"a", "y"}, 1)
		f.ask("x", client{"a", "x"}, 1)
		leave(client{"b", "gone"})
		time.Sleep(time.Minute)
		f.ask("z", client{"a", "z"}, 1)
		f.ask("b", client{"b", "gone"}, 1)
		f.requireOrder(t, "ybxzx")
	})
}

// TestFairForgetsCanceledWaiters: nobody waits for one who has gone, and what that one
// wanted stays for others.
func TestFairForgetsCanceledWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFair(2)
		require.NoError(t, f.acquire(t.Context(), client{address: "a"}, 1))
		impatient, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		granted := make(chan time.Duration, 1)
		began := time.Now()
		go func() {
			time.Sleep(time.Millisecond)
			_ = f.acquire(context.Background(), client{address: "b"}, 1) // behind the one that needs all
			granted <- time.Since(began)
		}()
		require.ErrorIs(t, f.acquire(impatient, client{address: "a"}, 2), context.DeadlineExceeded)
		require.Equal(t, time.Second, <-granted)
		f.release("a", 1)
		f.release("b", 1)
		require.True(t, f.tryAcquire(client{}, 2))
	})
}

// TestCanceledWaiterLosesItsTurn: a namespace whose requests wait for more than comes free,
// one behind the other, has one turn, as the others have.
func TestCanceledWaiterLosesItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFair(4)
		require.NoError(t, f.acquire(t.Context(), client{"a", "busy"}, 2))
		for after := range 3 {
			impatient, stop := context.WithTimeout(t.Context(), time.Duration(after+1)*time.Second)
			defer stop()
			go func() { _ = f.acquire(impatient, client{"a", "large"}, 3) }()
			synctest.Wait()
		}
		began := time.Now()
		require.NoError(t, f.acquire(t.Context(), client{"a", "good"}, 2))
		require.Equal(t, time.Second, time.Since(began), "that of one of the large requests")
		f.release("a", 4)
	})
}

// TestSmallAmountsStarveNoLargeOne: those who do not wait get a little again and
// again, and who waits for all gets it nevertheless.
func TestSmallAmountsStarveNoLargeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFair(80)
		require.True(t, f.tryAcquire(client{"a", "evil"}, 10))
		granted := false
		go func() { granted = f.acquire(context.Background(), client{"a", "good"}, 80) == nil }()
		synctest.Wait()
		passed := 0
		for f.tryAcquire(client{"a", "evil"}, 10) { // the next one before the last one ends
			passed++
			f.release("a", 10)
			synctest.Wait()
			require.Less(t, passed, 1000)
		}
		require.Equal(t, 32, passed)
		f.release("a", 10)
		synctest.Wait()
		require.True(t, granted)
		f.release("a", 80)
		require.True(t, f.tryAcquire(client{}, 80))
	})
}

// TestFairLeavesAQuarter: where one address has as much as it may, others find
// something free.
func TestFairLeavesAQuarter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newReserved(4)
		for range 3 {
			require.NoError(t, f.acquire(t.Context(), client{address: "a"}, 1))
		}
		granted := false
		go func() {
			granted = f.acquire(context.Background(), client{address: "a"}, 1) == nil
		}()
		synctest.Wait()
		require.False(t, granted)
		require.NoError(t, f.acquire(t.Context(), client{address: "b"}, 1), "it does not wait for the one before it")
		f.release("b", 1)
		synctest.Wait()
		require.False(t, granted)
		f.release("a", 1)
		synctest.Wait()
		require.True(t, granted)
		f.release("a", 3)
		require.Empty(t, f.held)
		require.Zero(t, f.used)
	})
}

// TestSmallAmountsNeedNotWait: somebody waits for more than is free, and others
// get a little of what is there. Those of the same namespace do not.
func TestSmallAmountsNeedNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFair(80)
		require.True(t, f.tryAcquire(client{"a", "evil"}, 40), "nobody waits")
		go func() { _ = f.acquire(context.Background(), client{"a", "evil"}, 50) }()
		synctest.Wait()
		require.False(t, f.tryAcquire(client{"a", "evil"}, 1))
		require.False(t, f.tryAcquire(client{"a", "good"}, 11), "more than an eighth")
		require.True(t, f.tryAcquire(client{"a", "good"}, 10))
		require.True(t, f.tryAcquire(client{"b", "evil"}, 10), "of another address")
		f.release("a", 60)
		synctest.Wait()
		f.release("a", 50)
		require.True(t, f.tryAcquire(client{}, 80), "all is free again")
	})
}
