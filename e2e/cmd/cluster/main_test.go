package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// inProject changes to the folder e2e/ of an empty project.
func inProject(t *testing.T) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "e2e")
	require.NoError(t, os.Mkdir(folder, 0o755))
	t.Chdir(folder)
	require.NoError(t, os.MkdirAll(stateDir, 0o755))
}

// TestSupervisorIsFoundForAsLongAsItRuns looks for the supervisor after a garbage
// collection, which closes unreferenced files and so releases their locks: then make
// cluster-down would find no cluster, and leave its processes running.
func TestSupervisorIsFoundForAsLongAsItRuns(t *testing.T) {
	inProject(t)
	require.Zero(t, supervisor())
	require.NoError(t, supervise(func() error {
		for range 3 {
			runtime.GC()
			time.Sleep(10 * time.Millisecond)
		}
		require.Equal(t, os.Getpid(), supervisor())
		return nil
	}))
	require.Zero(t, supervisor(), "it has ended")
}

func TestOneSupervisorOnly(t *testing.T) {
	inProject(t)
	require.NoError(t, supervise(func() error {
		require.ErrorContains(t, supervise(func() error { return nil }), "a cluster is running already")
		return nil
	}))
}

// TestLookingForASupervisorDoesNotKeepItFromStarting checks for the supervisor in a
// loop, as make cluster does while it waits.
func TestLookingForASupervisorDoesNotKeepItFromStarting(t *testing.T) {
	inProject(t)
	done, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		for {
			select {
			case <-done:
				return
			default:
				supervisor()
			}
		}
	}()
	for range 20 {
		require.NoError(t, supervise(func() error { return nil }))
	}
	close(done)
	<-looked
}
