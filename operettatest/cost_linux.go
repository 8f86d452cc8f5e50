package operettatest

import (
	"runtime"
	"syscall"
	"time"
)

// rusageThread is RUSAGE_THREAD, see getrusage(2).
const rusageThread = 1

// processorTime returns what a call has used of a processor, if it starts no goroutine.
func processorTime(call func()) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &before); err != nil {
		return 0, err
	}
	call()
	if err := syscall.Getrusage(rusageThread, &after); err != nil {
		return 0, err
	}
	used := func(u *syscall.Rusage) time.Duration { return time.Duration(u.Utime.Nano() + u.Stime.Nano()) }
	return used(&after) - used(&before), nil
}
