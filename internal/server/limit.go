package server

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/operetta-dev/operetta/internal/metrics"
	"github.com/operetta-dev/operetta/metacontroller"
)

const (
	// firstPart is read of a body before it counts in the memory budget: a slow sender
	// holds no more. Most bodies are not longer, and all of them together are bounded by
	// the number of connections.
	firstPart = 64 << 10
	// smallBody is the largest body that does not wait behind larger ones.
	smallBody = 1 << 20
	// bytesPerByte is how much memory a request takes for each byte of its body.
	bytesPerByte = 3
	// leastSpeed is how fast the rest of a longer body has to arrive, in bytes a second. One
	// more second is for the network.
	leastSpeed = 16 << 20
	// waitPart is the part of the answer time for waiting, in eighths. The rest is for the hook.
	waitPart = 5
	// customizeWait is how long customize hooks wait. Metacontroller calls them from the
	// goroutine that distributes the events of a kind to all controllers.
	customizeWait = time.Second
)

// DefaultMaxInFlight returns the default number of hooks that run at once.
func DefaultMaxInFlight() int { return max(4, 2*runtime.GOMAXPROCS(0)) }

// LimitMemory sets the soft limit of the Go runtime to 75% of the memory limit of the
// container, if there is one and GOMEMLIMIT is not set.
func LimitMemory() {
	limitMemory("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
}

func limitMemory(files ...string) {
	for _, file := range files {
		text, _ := os.ReadFile(file)
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" means none
		if err == nil && limit < 1<<40 && debug.SetMemoryLimit(-1) == math.MaxInt64 {
			debug.SetMemoryLimit(limit / 4 * 3)
		}
	}
}

// DefaultMemoryBudget returns 60% of the soft limit of the Go runtime, or of 384 MiB. The
// rest is for the program and for garbage.
func DefaultMemoryBudget() int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		limit = 384 << 20
	}
	return limit / 10 * 6
}

// LargestBody returns the size of the largest body for which a budget has room.
func LargestBody(budget int64) int64 { return budget / 2 }

// limits bound what requests take together: hooks that run at once, and memory. The
// quarter of the budget that no share has is for first parts.
type limits struct {
	small, large    share // bytes
	sync, customize share // running hooks
	leastLarge      int64 // so that large requests leave slots to others
	maxBody         int64
	first           sync.Pool // of *[firstPart]byte
}

func newLimits(budget, maxBody int64, slots int) *limits {
	l := &limits{}
	l.small.init(budget / 4)
	l.large.init(LargestBody(budget))
	l.sync.init(int64(slots))
	l.customize.init(int64(max(1, slots/2)))
	l.leastLarge = l.large.size / int64(max(1, slots/2))
	l.maxBody = min(maxBody, l.large.size)
	l.first.New = func() any { return new([firstPart]byte) }
	return l
}

// share is a weighted semaphore that tells the metrics how full it is.
type share struct {
	semaphore     *semaphore.Weighted
	size          int64
	used, waiting atomic.Int64
}

func (s *share) init(size int64) { s.semaphore, s.size = semaphore.NewWeighted(size), size }

// acquire waits for an amount, which is at most the whole share, and returns it.
func (s *share) acquire(ctx context.Context, until time.Time, amount int64) (int64, error) {
	amount = min(amount, s.size)
	if !s.semaphore.TryAcquire(amount) {
		s.waiting.Add(1)
		defer s.waiting.Add(-1)
		waiting, cancel := context.WithDeadline(ctx, until)
		defer cancel()
		if s.semaphore.Acquire(waiting, amount) != nil {
			if ctx.Err() != nil {
				return 0, errGone
			}
			return 0, errBusy
		}
	}
	s.used.Add(amount)
	return amount, nil
}

func (s *share) release(amount int64) {
	s.used.Add(-amount)
	s.semaphore.Release(amount)
}

func (s *share) load(part string) metrics.Share {
	return metrics.Share{Part: part, Size: s.size, Used: s.used.Load, Waiting: s.waiting.Load}
}

// held is what a request holds of the limits.
type held struct {
	first *[firstPart]byte
	share *share
	bytes int64
}

func (l *limits) release(h *held) {
	if h.first != nil {
		l.first.Put(h.first)
	}
	if h.share != nil {
		h.share.release(h.bytes)
	}
	*h = held{}
}

// read reads a body into one buffer of its length, which is valid until it is released.
func (l *limits) read(e *exchange, r *http.Request, until time.Time) ([]byte, error) {
	length := r.ContentLength
	switch {
	case length < 0:
		return nil, errNoLength
	case length > l.maxBody:
		return nil, tooLarge(l.maxBody)
	}
	e.held.first = l.first.Get().(*[firstPart]byte)
	body := e.held.first[:min(length, firstPart)]
	if err := e.fill(body, r.Body); err != nil || length <= firstPart {
		return body, err
	}
	share, amount := &l.small, length*bytesPerByte
	if length > smallBody {
		share, amount = &l.large, max(length*bytesPerByte, l.leastLarge)
	}
	amount, err := share.acquire(r.Context(), until, amount)
	if err != nil {
		return nil, err
	}
	e.held.share, e.held.bytes = share, amount
	body = append(make([]byte, 0, length), body...)[:length]
	l.first.Put(e.held.first)
	e.held.first = nil
	control := http.NewResponseController(e)
	_ = control.SetReadDeadline(time.Now().Add(time.Duration(1+length/leastSpeed) * time.Second))
	err = e.fill(body[firstPart:], r.Body)
	_ = control.SetReadDeadline(time.Time{}) // or net/http takes it for a closed connection
	return body, err
}

func (e *exchange) fill(body []byte, from io.Reader) error {
	n, err := io.ReadFull(from, body)
	e.received += int64(n)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlow
	case err != nil:
		return errHalfBody
	}
	return nil
}

// slot waits until a hook may run. The caller releases the share.
func (l *limits) slot(ctx context.Context, until time.Time, hook metacontroller.HookName) (*share, error) {
	slots := &l.sync
	if hook == metacontroller.CustomizeHook {
		slots = &l.customize
	}
	_, err := slots.acquire(ctx, until, 1)
	return slots, err
}
