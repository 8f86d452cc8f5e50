package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"

	"github.com/operetta-dev/operetta/metacontroller"
)

// The memory budget is what all requests together may hold. It has seven parts,
// so that no kind of request can take what another needs, and a request takes
// from them in one order only, so that none waits for another in a circle:
//
//	opening  the first part of every body, as it comes: a slow sender holds no
//	         more than twice what it has sent, and that only until others wait
//	tiny     bodies of at most 64 KiB about a parent of at most 200 values, and
//	         what is computed from them, unless they ask for much: most requests are
//	         of this kind
//	customize  other bodies of customize hooks, of at most 2 MiB, and what is computed
//	         from them
//	small    other bodies of at most 1 MiB and what is computed from them
//	large    the larger bodies
//	work     what is computed from those, and every large answer
//	spare    what others compute while one large request has all of work
//
// What is taken from opening is given back when tiny, small or large has been
// granted; work is granted whole before the hook runs. What a hook needs beyond
// that it gets at once, or it is called again when it has waited for that. Where requests have to wait, those of one
// address wait for one another rather than others for them, and so do those of one
// namespace within an address.
const (
	// DefaultMemoryBudget is for a process that has no limit.
	DefaultMemoryBudget = 512 << 20
	// LeastMemoryBudget and MostMemoryBudget are the range of the budget.
	LeastMemoryBudget = 32 << 20
	MostMemoryBudget  = 1 << 40

	smallBody     = 1 << 20
	customizeBody = 2 << 20  // more than a parent can have in etcd
	openingBytes  = 64 << 10 // of each body
	tinyBody      = openingBytes
	tinyValues    = 200       // few parents have half of that; at up to 50 µs each, more takes too long
	overheadBytes = 128 << 10 // of a request: what it costs beside its bytes
)

// BudgetOf returns the budget that fits a soft limit of the Go runtime: beside
// it there has to be room for garbage.
func BudgetOf(goLimit int64) int64 { return goLimit / 10 * 6 }

// GoLimitOf returns the soft limit of the Go runtime that fits a limit of the
// whole process: beside it there has to be room for the program and its stacks.
func GoLimitOf(processLimit int64) int64 { return processLimit / 100 * 75 }

// DetectBudget returns the budget of this process: from GOMEMLIMIT where that
// is set, or from the memory limit of its cgroup, or the default.
func DetectBudget() int64 {
	budget := int64(DefaultMemoryBudget)
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		budget = BudgetOf(limit)
	} else if limit, ok := cgroupLimit(); ok {
		budget = BudgetOf(GoLimitOf(limit))
	}
	return min(max(budget, LeastMemoryBudget), MostMemoryBudget)
}

// LimitGo sets the soft limit of the Go runtime that fits a budget, unless
// GOMEMLIMIT has set one.
func LimitGo(budget int64) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(budget / 6 * 10)
	}
}

// LargestBody returns the size of the largest body for which a budget has room.
func LargestBody(budget int64) int64 { return budget / 2 }

type budget struct {
	opening                                    *openings
	tiny, customize, small, large, work, spare *fair

	// turned limits the part of tiny that is kept by tiny requests which turn
	// out to be expensive, until they get memory of the other shares.
	turned *fair
}

func newBudget(size int64) *budget {
	large := LargestBody(size)
	opening, tiny, customize, small := size/10, size/20, size/32, size/10-size/32
	rest := size - large - opening - tiny - customize - small
	spare := rest / littlePart
	return &budget{
		opening: newOpenings(opening), tiny: newReserved(tiny), customize: newReserved(customize), small: newReserved(small),
		large: newFair(large), work: newFair(rest - spare), spare: newFair(spare), turned: newFair(tiny / 4),
	}
}

// isTiny reports whether a body is cheap to answer.
func isTiny(body []byte) bool {
	return len(body) <= tinyBody && metacontroller.ValidatedValues(body) <= tinyValues
}

var (
	// errNotTiny ends a call that is more expensive than a tiny request may be.
	errNotTiny = errors.New("it costs more than a tiny request")
	// errBusy is the answer 429: the same request will succeed later.
	errBusy = errors.New("the server is busy")
	// errSlow: the body did not arrive in time.
	errSlow = fmt.Errorf("%w: the request body did not arrive in time", errBusy)
	// errGone: the client has closed the connection.
	errGone = errors.New("the client has hung up")
	// errLate: the answer was not computed in time.
	errLate = errors.New("no answer was computed in time")
)

// held is the part of a share that one request holds.
type held struct {
	share   *fair
	address string // of the client
	amount  int64
}

// take waits for an amount, or for the whole share if it is less.
func (h *held) take(ctx context.Context, c client, amount int64) error {
	amount, h.address = min(amount, h.share.each-h.amount), c.address
	if h.share.acquire(ctx, c, amount) != nil {
		return busyOrGone(ctx)
	}
	h.amount += amount
	return nil
}

// takeNow takes an amount that is free, or fails.
func (h *held) takeNow(c client, amount int64) error {
	if amount > h.share.size-h.amount {
		return fmt.Errorf("one request may take %d bytes of the memory budget for what it computes, and this is %w: make the resource smaller, or raise --memory-budget",
			h.share.size, metacontroller.ErrTooMuch)
	}
	if !h.share.tryAcquire(c, amount) {
		return errBusy
	}
	h.amount += amount
	return nil
}

// give gives back all but rest.
func (h *held) give(rest int64) {
	if back := h.amount - rest; back > 0 {
		h.share.release(h.address, back)
		h.amount -= back
	}
}

// busyOrGone returns why a wait has ended.
func busyOrGone(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), context.Canceled) { // not errCrowded
		return errGone
	}
	return errBusy
}
