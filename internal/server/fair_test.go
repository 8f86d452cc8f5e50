package server

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFairHasTurns: one address waits for one request of each other address, and for
// all of its own that came before.
func TestFairHasTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFair(2)
		require.NoError(t, f.acquire(t.Context(), "first", 2))
		var order strings.Builder
		ask := func(address string, amount int64) {
			go func() {
				if f.acquire(context.Background(), address, amount) == nil {
					order.WriteString(address)
					time.Sleep(time.Second)
					f.release(address, amount)
				}
			}()
			synctest.Wait()
		}
		for range 5 {
			ask("a", 2)
		}
		ask("b", 2)
		ask("b", 2)
		ask("c", 1)
		require.False(t, f.tryAcquire(1))
		f.release("first", 2)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, "abcabaaa", order.String())
		require.True(t, f.tryAcquire(2), "all is free again")
		require.False(t, f.tryAcquire(1))
		require.Empty(t, f.waiting)
		require.Empty(t, f.turns)
	})
}

// TestFairForgetsWhoGivesUp: nobody waits for one who has gone, and what that one
// wanted stays for others.
func TestFairForgetsWhoGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFair(2)
		require.NoError(t, f.acquire(t.Context(), "a", 1))
		impatient, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		granted := make(chan time.Duration, 1)
		began := time.Now()
		go func() {
			time.Sleep(time.Millisecond)
			_ = f.acquire(context.Background(), "b", 1) // behind the one that needs all
			granted <- time.Since(began)
		}()
		require.ErrorIs(t, f.acquire(impatient, "a", 2), context.DeadlineExceeded)
		require.Equal(t, time.Second, <-granted)
		f.release("a", 1)
		f.release("b", 1)
		require.True(t, f.tryAcquire(2))
	})
}

// TestFairLeavesAQuarter: where one address has as much as it may, others find
// something free.
func TestFairLeavesAQuarter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newReserved(4)
		for range 3 {
			require.NoError(t, f.acquire(t.Context(), "a", 1))
		}
		granted := false
		go func() {
			granted = f.acquire(context.Background(), "a", 1) == nil
		}()
		synctest.Wait()
		require.False(t, granted)
		require.NoError(t, f.acquire(t.Context(), "b", 1), "it does not wait for the one before it")
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
