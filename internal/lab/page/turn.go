package page

import (
	"context"
	"errors"
	"sync"
)

var errOvertaken = errors.New("a newer request has taken its place")

// turn lets one request play at a time. Of those that wait, the newest does.
type turn struct {
	slot    chan struct{}
	mutex   sync.Mutex
	waiting chan struct{} // is closed when a newer one waits
}

func (t *turn) take(ctx context.Context) error {
	mine := make(chan struct{})
	t.mutex.Lock()
	if t.waiting != nil {
		close(t.waiting)
	}
	t.waiting = mine
	t.mutex.Unlock()
	defer func() {
		t.mutex.Lock()
		defer t.mutex.Unlock()
		if t.waiting == mine {
			t.waiting = nil
		}
	}()
	select {
	case t.slot <- struct{}{}:
		return nil
	case <-mine:
		return errOvertaken
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *turn) done() { <-t.slot }
