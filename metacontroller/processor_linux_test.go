package metacontroller

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// processorTime returns what a call has used of a processor. Unlike the clock it
// stands still while other processes run.
func processorTime(t *testing.T, call func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var usage syscall.Rusage
		require.NoError(t, syscall.Getrusage(1, &usage)) // RUSAGE_THREAD
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	before := used()
	call()
	return used() - before
}
