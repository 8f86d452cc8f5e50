// Package lockfile has locks between processes. The kernel gives a lock up when
// the process that holds it ends, so a killed one leaves none behind.
package lockfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// retryInterval is the pause between two attempts to get a lock.
const retryInterval = 20 * time.Millisecond

// held are the open files of the locks of this process. Something has to refer
// to each of them: the garbage collector closes a file that nothing refers to,
// and the lock goes with it, whatever the caller of Acquire does with release.
var held sync.Map

// Acquire waits until no other holds the lock file at path, and makes that file
// where there is none.
func Acquire(ctx context.Context, path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open a lock file: %w", err)
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			held.Store(file, nil)
			return func() {
				held.Delete(file)
				_ = file.Close()
			}, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for the holder of %s: %w", path, ctx.Err()), file.Close())
		case <-time.After(retryInterval):
		}
	}
}

// IsHeld tells whether someone holds the lock file at path, this process
// included. For a moment it shares the lock if nobody does, so Acquire has to be
// given a moment too.
func IsHeld(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open a lock file: %w", err)
	}
	defer func() { _ = file.Close() }()
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); {
	case err == nil:
		return false, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return true, nil
	default:
		return false, fmt.Errorf("look at the lock %s: %w", path, err)
	}
}
