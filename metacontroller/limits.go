package metacontroller

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// DefaultMaxAnswerBytes is the size of the largest answer where [Limits] set
// none. Metacontroller reads an answer whole, and so does whoever watches it.
const DefaultMaxAnswerBytes = 64 << 20

// Limits bound what one call may cost.
type Limits struct {
	// MaxAnswerBytes is the size of the largest answer; 0 stands for
	// [DefaultMaxAnswerBytes]. A larger one is an error, before its memory is
	// spent.
	MaxAnswerBytes int64
	// Reserve, if it is set, is told how many bytes the call is about to spend on
	// objects and on its answer. Its error ends the call and is wrapped by the
	// error of the call. One that wraps [ErrTooMuch] says that no call may have so
	// much; every other one, that another time may do.
	Reserve func(bytes int64) error
	// Large, if it is set, is called before the call spends much time on children
	// that together have more than some 256 KiB: once, or not at all. Its error ends
	// the call and is wrapped by the error of the call. A parent of a few bytes may
	// ask for very many children, so that only here is known what a call costs.
	Large func() error
}

// ErrTooMuch is wrapped by the error of [Limits.Reserve] for what no call may
// have. A teardown then goes on without what it cannot afford.
var ErrTooMuch = errors.New("more than one call may have")

const (
	// snapshotBytes is about what a Snapshot costs, with the strings of its
	// identity and the growth of the list it is in.
	snapshotBytes = 384
	// checkedObjects is the number of objects after which a call looks again
	// whether it is still wanted.
	checkedObjects = 64
	// largeChildren is how many bytes the children of a call have together that is
	// called large.
	largeChildren = 256 << 10
	// restatedCost is how many times as much memory as its decoded form it takes to
	// restate a kept child: that, and which of its fields are restated.
	restatedCost = 2
	// leastChildBytes is less than the smallest child has in an answer.
	leastChildBytes = 48
	// managedAnswerBytes is the size from which on an answer grows in one step to
	// what it will have at its end, rather than by doubling.
	managedAnswerBytes = 1 << 20
	// maxNestedObjects is the number of objects that a parent's spec, or status,
	// may have. The text of one can have four bytes and its Go struct a thousand,
	// so that the few bytes that the API server accepts could be decoded to more
	// memory than there is. A template of the largest child has 10,000.
	maxNestedObjects = 20_000
)

// run is one call on its way: whether it is still wanted, and what it may
// spend. All of it is nil-safe, for objects that were made without a call.
type run struct {
	ctx    context.Context // of the call, with which a run ends
	limits Limits
	passed int64 // bytes that are spent on what is done one after the other
	wanted int64 // bytes of the children that the hook has compared
	err    error // why the call has ended early
}

func newRun(ctx context.Context, limits Limits) *run {
	if limits.MaxAnswerBytes == 0 {
		limits.MaxAnswerBytes = DefaultMaxAnswerBytes
	}
	return &run{ctx: ctx, limits: limits}
}

// spend tells that the call goes on with so many bytes more, and returns an
// error if it shall not. The first error is that of all later calls.
func (r *run) spend(n int64) error {
	if r == nil || r.err != nil {
		return r.failure()
	}
	if r.ctx.Err() != nil {
		r.err = fmt.Errorf("the call was given up: %w", context.Cause(r.ctx))
	} else if r.limits.Reserve != nil && n > 0 {
		if err := r.limits.Reserve(n); err != nil {
			r.err = fmt.Errorf("too much memory for one call: %w", err)
		}
	}
	return r.err
}

// passing is spend for memory that is free again before it is asked for the
// next time: only the largest counts.
func (r *run) passing(n int64) error {
	if r == nil {
		return nil
	}
	more := n - r.passed
	r.passed = max(r.passed, n)
	return r.spend(max(more, 0))
}

// afford is passing for what the call can do without: that no call may have so
// much does not end it.
func (r *run) afford(n int64) error {
	if r == nil || r.err != nil {
		return r.failure()
	}
	passed := r.passed
	err := r.passing(n)
	if errors.Is(err, ErrTooMuch) {
		r.passed, r.err = passed, nil
	}
	return err
}

func (r *run) failure() error {
	if r == nil {
		return nil
	}
	return r.err
}

// counted is spend for the i-th of many objects that cost about the same: it
// looks every few objects only.
func (r *run) counted(i int, each int64) error {
	if i%checkedObjects != 0 {
		return r.failure()
	}
	return r.spend(checkedObjects * each)
}

// wants tells how many bytes the children have together that are asked for, as
// far as is known, and returns an error if the call shall not go on.
func (r *run) wants(bytes int64) error {
	if err := r.spend(0); r == nil || err != nil {
		return err
	}
	if bytes > largeChildren && r.limits.Large != nil {
		large := r.limits.Large
		r.limits.Large = nil
		if err := large(); err != nil {
			r.err = fmt.Errorf("the children have more than %d bytes: %w", largeChildren, err)
		}
	}
	return r.err
}

// compared is called for each child that is compared with what is observed.
func (r *run) compared(size int) error {
	if r == nil {
		return nil
	}
	r.wanted += int64(size)
	return r.wants(r.wanted)
}

// sizeOf returns the size of a decoded T, without what it points to.
func sizeOf[T any]() int64 { return int64(reflect.TypeFor[T]().Size()) }

// admits refuses an answer with more children than its bytes can hold, before
// any of them is looked at.
func (r *run) admits(req *request, children int) error {
	if int64(children) > r.limits.MaxAnswerBytes/leastChildBytes {
		return r.tooLarge(req, children)
	}
	return r.spend(0)
}

// room is called when so many of all children are in the answer. It refuses
// one that is too large, and gives a large one the room that it will need.
func (r *run) room(req *request, body []byte, done, all int) ([]byte, error) {
	length := int64(len(body))
	if length > r.limits.MaxAnswerBytes {
		return nil, r.tooLarge(req, all)
	}
	if err := r.wants(length); err != nil {
		return nil, err
	}
	if length < managedAnswerBytes || done == all || int64(cap(body))-length > MaxAppliedBytes {
		return body, nil
	}
	wanted := min(float64(length)/float64(done)*float64(all)*1.05, float64(r.limits.MaxAnswerBytes))
	grown := max(int64(math.Ceil(wanted)), length) + 2*MaxAppliedBytes
	if err := r.spend(grown); err != nil {
		return nil, err
	}
	return append(make([]byte, 0, grown), body...), nil
}

// tooLarge names the fields of the parent that make the answer large: the
// largest number, and the largest part.
func (r *run) tooLarge(req *request, children int) error {
	var number, part string
	var most float64
	var longest int
	members(lookup(req.parent, "spec"), func(key, value []byte) bool {
		if n, err := strconv.ParseFloat(string(value[:min(len(value), 32)]), 64); err == nil && n > most {
			number, most = fmt.Sprintf("spec.%.64s (now %.0f)", key, n), n
		}
		if len(value) > longest {
			part, longest = fmt.Sprintf("spec.%.64s (now %d bytes)", key, len(value)), len(value)
		}
		return true
	})
	fields := part
	switch {
	case part == "":
		fields = "spec"
	case number != "" && longest > 32:
		fields = number + " or " + part
	case number != "":
		fields = number
	}
	return fmt.Errorf("the answer with its %d children would be larger than %d bytes: make %s smaller",
		children, r.limits.MaxAnswerBytes, fields)
}

// isTooNested reports whether decoding a JSON text may cost far more memory than
// the text has.
func isTooNested(raw []byte) bool {
	count := 0
	for i := 0; i < len(raw) && count <= maxNestedObjects; i++ {
		switch raw[i] {
		case '"':
			i = skipString(raw, i) - 1
		case '{', 'n': // an object, or null
			count++
		}
	}
	return count > maxNestedObjects
}

// decodeParent decodes a parent, unless decoding would cost far more memory
// than its text.
func decodeParent(req *request, into any) error {
	raw := req.parent
	for _, name := range []string{"spec", "status"} {
		if isTooNested(lookup(raw, name)) {
			return badRequest("%s has more than %d objects in it: make it smaller", name, maxNestedObjects)
		}
	}
	if err := req.run.spend(decodedSize(raw, reflect.TypeOf(into).Elem())); err != nil {
		return err
	}
	return decode(raw, into)
}
