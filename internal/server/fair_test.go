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
					f.release(amount)
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
		f.release(2)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, "abcabaaa", order.String())
		require.True(t, f.tryAcquire(2), "all is free again")
		require.False(t, f.tryAcquire(1))
		require.Empty(t, f.waiting)
		require.Empty(t, f.turns)
	})
}

// TestFairForgetsWhoGivesUp: nobody waits for one who has gone, and what he wanted
// stays for others.
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
		f.release(1)
		f.release(1)
		require.True(t, f.tryAcquire(2))
	})
}
