package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
)

// slots limit how many hooks run at once. A hook only computes, so more than
// the number of processors would just wait for each other. Large requests,
// which run for long, leave some slots to the others, and these leave some to
// tiny ones: see the budget. Tiny requests of one address leave some to other
// addresses. customize has slots of its own.
type slots struct{ all, tiny, notTiny, large, customize *fair }

// DefaultMaxInFlight returns the default number of hooks that run at once: two
// for each processor.
func DefaultMaxInFlight() int { return max(4, 2*runtime.GOMAXPROCS(0)) }

func newSlots(most int) slots {
	turns := func(n int) *fair { return newFair(int64(max(1, n))) }
	return slots{all: turns(most), tiny: newReserved(int64(max(1, most))), notTiny: turns(most - (most+3)/4), large: turns(most / 2), customize: turns((most + 1) / 2)}
}

// job is a request from its headers to its answer: its time limits, and what it
// holds.
type job struct {
	server   *Server
	client   client
	computed time.Time               // when the answer must be computed
	request  context.Context         // of the client, which may close the connection
	waiting  context.Context         // ends when the job must run at the latest
	cancel   context.CancelCauseFunc // of waiting
	isLarge  bool
	// isCustomize is set for the customize hook, which Metacontroller calls at
	// each event of a related object, from the one goroutine that distributes
	// the events of a kind to all controllers: a slow answer delays everyone's
	// events.
	isCustomize bool
	body        held // and, for a small body, what is computed from it
	work, spare held
	included    int64         // of what the hook will reserve: what body holds for it
	ran         time.Duration // by hooks so far
	prepaid     int64         // the rest of what is held before the hook runs
	reserved    int64         // by the hook
	// learned is what the hook is known to reserve beyond what is usual for a body of its
	// length: it was refused that, and is called again with it.
	learned int64
}

// customizeWait is how long a customize hook may wait. A refusal loses the
// event for its own custom resource; waiting delays the events of all.
const customizeWait = time.Second

func (s *Server) newJob(r *http.Request, hook metacontroller.HookName) *job {
	now := time.Now()
	j := &job{server: s, isCustomize: hook == metacontroller.CustomizeHook, client: client{address: hostOf(r.RemoteAddr)}, computed: now.Add(s.options.AnswerTimeout), request: r.Context(), work: held{share: s.budget.work}, spare: held{share: s.budget.spare}}
	wait := s.options.AnswerTimeout * waitPart / 10
	if j.isCustomize {
		wait = min(wait, customizeWait)
	}
	timed, stop := context.WithDeadline(j.request, now.Add(wait))
	j.waiting, j.cancel = context.WithCancelCause(timed)
	context.AfterFunc(j.waiting, stop)
	return j
}

// end gives everything back.
func (j *job) end() {
	j.cancel(nil)
	j.body.give(0)
	j.work.give(0)
	j.spare.give(0)
}

// takeBody reserves memory for a body of a length. Unless it is large, that
// includes what will be computed from it: see the order in which shares are
// taken.
func (j *job) takeBody(length int64, tiny bool) error {
	ofCustomize := j.isCustomize && !tiny && length <= customizeBody
	j.isLarge = length > smallBody && !ofCustomize
	defer j.begin(memoryStep).end()
	if j.isLarge {
		j.body = held{share: j.server.budget.large}
		return j.body.take(j.waiting, j.client, length+compactBytes)
	}
	j.body = held{share: j.server.budget.small}
	switch {
	case tiny:
		j.body.share = j.server.budget.tiny
	case ofCustomize:
		j.body.share = j.server.budget.customize
	}
	j.included = length + overheadBytes
	return j.body.take(j.waiting, j.turnOf(tiny), length+j.included)
}

// turnOf returns the queue in which it waits. Tiny requests of an address wait
// in order of arrival, whatever their namespace: each of them costs little.
func (j *job) turnOf(tiny bool) client {
	if tiny {
		return client{address: j.client.address}
	}
	return j.client
}

// call runs a hook when it is its turn. A hook that has the turn of a tiny
// request, and turns out to be expensive, starts again when it is the turn of
// others, and one that needs more memory than is free starts again when it has
// waited for that: a hook is pure, so only time is lost.
func (j *job) call(controller metacontroller.Controller, hook metacontroller.HookName, now time.Time, body []byte) (metacontroller.Answer, error) {
	run := func(tiny bool) (metacontroller.Answer, error) {
		leave, err := j.enter(tiny)
		if err != nil {
			return metacontroller.Answer{}, err
		}
		defer leave()
		j.server.calls.enter(j, controller.Name(), hook)
		defer j.server.calls.leave(j)
		return j.compute(func(ctx context.Context, limits metacontroller.Limits) (metacontroller.Answer, error) {
			if tiny {
				limits.Large = func() error { return errNotTiny }
			}
			return controller.CallContext(ctx, hook, now, body, limits)
		}, int64(len(body)))
	}
	answer, err := run(isTiny(body))
	if errors.Is(err, errNotTiny) {
		if err := j.turn(int64(len(body))); err != nil {
			return metacontroller.Answer{}, err
		}
		answer, err = run(false)
	}
	for errors.Is(err, errBusy) && j.learn() {
		answer, err = run(false)
	}
	return answer, err
}

// learn gives back what a call has reserved, and reports whether it was refused more
// than it had waited for. The next call waits for twice that, so that few calls are
// needed where a hook reserves little by little.
func (j *job) learn() bool {
	most := j.work.share.each
	if j.reserved <= j.included+j.learned || j.learned == most {
		return false
	}
	j.learned = min(2*j.reserved, most)
	j.work.give(0)
	j.spare.give(0)
	return true
}

// compute runs a call with the memory and time limits for a request of a
// length.
func (j *job) compute(call func(context.Context, metacontroller.Limits) (metacontroller.Answer, error), length int64) (metacontroller.Answer, error) {
	wanted := j.learned
	if j.isLarge {
		wanted = max(wanted, length+overheadBytes)
	}
	if wanted > 0 {
		waiting := j.begin(memoryStep)
		err := j.work.take(j.waiting, j.client, wanted)
		waiting.end()
		if err != nil {
			return metacontroller.Answer{}, err
		}
	}
	j.prepaid, j.reserved = j.included+wanted, 0
	started := time.Now()
	ctx, cancel := context.WithDeadlineCause(j.request, j.computed, errLate)
	defer cancel()
	next, end := j.follow()
	defer end()
	answer, err := call(ctx, metacontroller.Limits{MaxAnswerBytes: j.server.options.MaxAnswerBytes, Reserve: j.reserve, Step: next})
	j.ran += time.Since(started)
	if err != nil {
		return answer, j.endOf(ctx, err)
	}
	j.keep(int64(cap(answer.Body)))
	return answer, nil
}

// turn makes a tiny request one of the others. Until they have room for it, it
// keeps its body, but all such requests together only a part of the tiny ones'
// memory.
func (j *job) turn(length int64) error {
	j.work.give(0)
	j.spare.give(0)
	if j.isLarge { // a body that was large on the wire has its memory
		return nil
	}
	turned := held{share: j.server.budget.turned}
	if err := turned.takeNow(j.client, length); err != nil {
		return errBusy
	}
	defer turned.give(0)
	j.body.give(length)
	tiny := j.body
	defer tiny.give(0)
	return j.takeBody(length, false)
}

// shrink makes a large request a small one if, after compacting, no more than a
// length of its body is left. It then does not wait with the large ones.
func (j *job) shrink(length int64) error {
	large := j.body
	defer large.give(0)
	return j.takeBody(length, false)
}

// enter waits for a slot, and returns the function that releases it. After
// compacting, any body may be tiny.
func (j *job) enter(tiny bool) (leave func(), err error) {
	defer j.begin(turnStep).end()
	slots := j.server.slots
	var wanted []*fair
	switch {
	case tiny:
		wanted = []*fair{slots.tiny, slots.all}
	case j.isLarge || j.learned > 0 && !j.isCustomize: // it waits for memory while it has the slot
		wanted = []*fair{slots.large, slots.notTiny, slots.all}
	case j.isCustomize:
		wanted = []*fair{slots.customize}
	default:
		wanted = []*fair{slots.notTiny, slots.all}
	}
	entered := 0
	leave = func() {
		for _, slot := range wanted[:entered] {
			slot.release(j.client.address, 1)
		}
	}
	for _, slot := range wanted {
		if slot.acquire(j.waiting, j.turnOf(tiny), 1) != nil {
			leave()
			return nil, busyOrGone(j.waiting)
		}
		entered++
	}
	return leave, nil
}

// reserve takes what a hook is about to spend. It does not wait, because two
// requests that hold memory could wait for each other.
func (j *job) reserve(amount int64) error {
	j.reserved += amount
	free := min(amount, j.prepaid)
	j.prepaid -= free
	if amount == free {
		return nil
	}
	err := j.work.takeNow(j.client, amount-free)
	if !j.isLarge && errors.Is(err, errBusy) && amount-free <= j.spare.share.size-j.spare.amount {
		return j.spare.takeNow(j.client, amount-free)
	}
	return err
}

// endOf says whether a call that ran out of time failed because of the client,
// the load or the resource.
func (j *job) endOf(ctx context.Context, err error) error {
	switch {
	case ctx.Err() == nil:
		return err
	case j.request.Err() != nil:
		return fmt.Errorf("%w: %w", errGone, err)
	case j.ran < j.server.options.AnswerTimeout*9/10:
		return fmt.Errorf("%w: %w", errBusy, err) // there may be more time at a retry
	default:
		return err // errLate
	}
}

// keep gives back everything except the memory of the answer.
func (j *job) keep(answer int64) {
	if j.isLarge {
		j.body.give(0)
	} else {
		j.body.give(answer)
	}
	j.work.give(answer)
	j.spare.give(answer)
}
