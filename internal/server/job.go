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

// slots are the hooks that run at once. A hook is computation and nothing else,
// so that more of them than there are processors only wait for one another.
// Those of large requests, which run for long, leave some to the others, and
// these leave some to the tiny ones: see the budget. The tiny ones of one address
// leave some to the others'. Those of customize have some of their own.
type slots struct{ all, tiny, notTiny, large, customize *fair }

// DefaultMaxInFlight returns the number of hooks that run at once where it is
// not set: two for each processor.
func DefaultMaxInFlight() int { return max(4, 2*runtime.GOMAXPROCS(0)) }

func newSlots(most int) slots {
	turns := func(n int) *fair { return newFair(int64(max(1, n))) }
	return slots{all: turns(most), tiny: newReserved(int64(max(1, most))), notTiny: turns(most - (most+3)/4), large: turns(most / 2), customize: turns((most + 1) / 2)}
}

// job is a request from its headers to its answer: its time, and what it holds.
type job struct {
	server   *Server
	client   client
	computed time.Time               // when there has to be an answer
	request  context.Context         // of the client, which may hang up
	waiting  context.Context         // ends when the job has to run at the latest
	cancel   context.CancelCauseFunc // of waiting
	isLarge  bool
	// isCustomize is set for the hook that Metacontroller asks, at each event of a related
	// object, from the one thread that hands out the events of its kind to all
	// controllers: while it waits, everybody's events do.
	isCustomize bool
	body        held // and, of a small one, what is computed from it
	work        held
	prepaid     int64 // of what the hook will reserve
}

// customizeWait is how long a customize hook may wait. One that is refused costs the
// event of its own custom resource, and one that waits holds up those of all.
const customizeWait = time.Second

func (s *Server) newJob(r *http.Request, hook metacontroller.HookName) *job {
	now := time.Now()
	j := &job{server: s, isCustomize: hook == metacontroller.CustomizeHook, client: client{address: hostOf(r.RemoteAddr)}, computed: now.Add(s.options.AnswerTimeout), request: r.Context(), work: held{share: s.budget.work}}
	wait := s.options.AnswerTimeout * waitPart / 10
	if j.isCustomize {
		wait = min(wait, customizeWait)
	}
	timed, stop := context.WithDeadline(j.request, now.Add(wait))
	j.waiting, j.cancel = context.WithCancelCause(timed)
	context.AfterFunc(j.waiting, stop)
	return j
}

// end gives all back.
func (j *job) end() {
	j.cancel(nil)
	j.body.give(0)
	j.work.give(0)
}

// takeBody takes what a body of a length needs. One that is not large takes what
// will be computed from it as well: see the order in which shares are taken.
func (j *job) takeBody(length int64, tiny bool) error {
	ofCustomize := j.isCustomize && !tiny && length <= customizeBody
	j.isLarge = length > smallBody && !ofCustomize
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
	j.prepaid = length + overheadBytes
	return j.body.take(j.waiting, j.turnOf(tiny), length+j.prepaid)
}

// turnOf returns in whose turn it waits. The tiny ones of an address wait in the
// order in which they come: each of them costs little, so that a namespace that has
// many is not to wait for one of another between any two of its own.
func (j *job) turnOf(tiny bool) client {
	if tiny {
		return client{address: j.client.address}
	}
	return j.client
}

// call runs a hook, when it is its turn. One that has been given the turn of a
// tiny request, and turns out to ask for much, starts again when it is the turn of
// others: a hook is pure, so that nothing is lost but the time until then.
func (j *job) call(controller metacontroller.Controller, hook metacontroller.HookName, now time.Time, body []byte) (metacontroller.Answer, error) {
	run := func(tiny bool) (metacontroller.Answer, error) {
		leave, err := j.enter(tiny)
		if err != nil {
			return metacontroller.Answer{}, err
		}
		defer leave()
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
	return answer, err
}

// compute calls, with the memory and the time that a request of a length has.
func (j *job) compute(call func(context.Context, metacontroller.Limits) (metacontroller.Answer, error), length int64) (metacontroller.Answer, error) {
	if j.isLarge {
		j.prepaid = length + overheadBytes
		if err := j.work.take(j.waiting, j.client, j.prepaid); err != nil {
			return metacontroller.Answer{}, err
		}
	}
	started := time.Now()
	ctx, cancel := context.WithDeadlineCause(j.request, j.computed, errLate)
	defer cancel()
	answer, err := call(ctx, metacontroller.Limits{MaxAnswerBytes: j.server.options.MaxAnswerBytes, Reserve: j.reserve})
	if err != nil {
		return answer, j.endOf(ctx, err, time.Since(started))
	}
	j.keep(int64(cap(answer.Body)))
	return answer, nil
}

// turn makes a tiny request one of the others. Until these have room for it, it
// keeps its body, for which no more than a part of the tiny ones' memory is there:
// or else those that wait would take all of it.
func (j *job) turn(length int64) error {
	j.work.give(0)
	if j.isLarge { // what was large on the wire has its memory
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

// shrink makes a large request a small one, of whose body no more than a length is
// left: what no hook reads has been left out by now. So it does not wait for those
// that are large.
func (j *job) shrink(length int64) error {
	large := j.body
	defer large.give(0)
	return j.takeBody(length, false)
}

// enter waits for a slot, and returns what gives it back. What no hook reads has
// been left out of a body by now, so that any may have become tiny.
func (j *job) enter(tiny bool) (leave func(), err error) {
	slots := j.server.slots
	var wanted []*fair
	switch {
	case tiny:
		wanted = []*fair{slots.tiny, slots.all}
	case j.isLarge:
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

// reserve takes what a hook is about to spend. It does not wait: who waits with
// his hands full may wait for another who does.
func (j *job) reserve(amount int64) error {
	free := min(amount, j.prepaid)
	j.prepaid -= free
	if amount == free {
		return nil
	}
	return j.work.takeNow(j.client, amount-free)
}

// endOf returns the error of a call that has ended for want of time as one of
// the client, of the load or of the resource.
func (j *job) endOf(ctx context.Context, err error, ran time.Duration) error {
	switch {
	case ctx.Err() == nil:
		return err
	case j.request.Err() != nil:
		return fmt.Errorf("%w: %w", errGone, err)
	case ran < j.server.options.AnswerTimeout*9/10:
		return fmt.Errorf("%w: %w", errBusy, err) // it would have had more time at another time
	default:
		return err // errLate
	}
}

// keep gives back what the call has needed, but for its answer.
func (j *job) keep(answer int64) {
	if j.isLarge {
		j.body.give(0)
	} else {
		j.body.give(answer)
	}
	j.work.give(answer)
}
