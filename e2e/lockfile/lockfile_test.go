package lockfile

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// collect lets the garbage collector find what nothing refers to, and gives what
// it found the time to be closed.
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

// TestLockOutlivesItsVariable forgets the release function, as a program does
// that wants its lock for as long as it runs.
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
