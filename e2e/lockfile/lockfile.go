// Package lockfile has locks between processes. The kernel releases a lock when the
// process that holds it ends, even if it is killed.
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

// held are the open files of the locks of this process. They must stay referenced: the
// garbage collector closes an unreferenced file, which releases the lock even if the
// caller of Acquire has not called release.
var held sync.Map

// Acquire waits until no one else holds the lock file at path, which it creates if
// necessary.
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
