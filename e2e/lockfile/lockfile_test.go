package lockfile

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// collect runs the garbage collector, and waits for the finalizers that close files.
func collect() {
	for range 3 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
}

func requireHeld(t *testing.T, want bool, path string) {
	t.Helper()
	is, err := IsHeld(path)
	require.NoError(t, err)
	require.Equal(t, want, is)
}

// TestLockOutlivesItsVariable drops the release function, as a program does that keeps
// its lock until it ends.
func TestLockOutlivesItsVariable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	requireHeld(t, false, path)
	_, err := Acquire(t.Context(), path)
	require.NoError(t, err)
	collect()
	requireHeld(t, true, path)
}

func TestReleaseLetsTheNextOneIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := Acquire(t.Context(), path)
	require.NoError(t, err)

	short, cancel := context.WithTimeout(t.Context(), 2*retryInterval)
	defer cancel()
	_, err = Acquire(short, path)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	next := make(chan error, 1)
	go func() {
		_, err := Acquire(t.Context(), path)
		next <- err
	}()
	release()
	require.NoError(t, <-next)
	requireHeld(t, true, path)
}
