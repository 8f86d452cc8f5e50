package metacontroller

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// DefaultMaxAnswerBytes is the size of the largest answer if [Limits] sets
// none. Metacontroller reads an answer into memory as a whole.
const DefaultMaxAnswerBytes = 64 << 20

// Limits bound what one call may cost.
type Limits struct {
	// MaxAnswerBytes is the size of the largest answer; 0 means
	// [DefaultMaxAnswerBytes]. A larger answer is refused before its memory is
	// allocated.
	MaxAnswerBytes int64
	// Reserve, if set, is called with the number of bytes that the call is
	// about to spend on objects and on its answer. Its error ends the call and
	// is wrapped by the call's error. An error that wraps [ErrTooMuch] means
	// that no call may have so much; any other, that a retry may succeed.
	Reserve func(bytes int64) error
	// Large, if set, is called at most once, before the call spends much time
	// on children of more than about 256 KiB together. Its error ends the call
	// and is wrapped by the call's error. A parent of a few bytes may ask for
	// very many children, so the cost of a call is only known here.
	Large func() error
	// Step, if set, is called when the call begins a step.
	Step func(Step)
}

// Step is a part of a call.
type Step string

// Steps of a call, in their order. One that fails is the last.
const (
	// DecodeStep reads and validates the request.
	DecodeStep Step = "decode"
	// HookStep decodes the parent, and children as the hook reads them, and runs the hook.
	HookStep Step = "hook"
	// EncodeStep checks and writes the answer.
	EncodeStep Step = "encode"
)

// ErrTooMuch is wrapped by the error of [Limits.Reserve] for an amount that no
// call may have. A teardown then goes on without the part that is too
// expensive.
var ErrTooMuch = errors.New("more than one call may have")

const (
	// snapshotBytes is about the size of a Snapshot, with the strings of its
	// identity and its share of the growing list.
	snapshotBytes = 384
	// keptBytes is about what a kept child takes besides: its identity is in
	// two maps.
	keptBytes = 1 << 10
	// checkedObjects is the number of objects after which a call checks again
	// whether it was canceled.
	checkedObjects = 64
	// largeChildren is the size of all children together from which on a call
	// is large.
	largeChildren = 256 << 10
	// restatedCost is the memory to restate a kept child, as a multiple of its
	// decoded form: the copy, and the set of its restated fields.
	restatedCost = 2
	// leastChildBytes is a lower bound for the size of a child in an answer.
	leastChildBytes = 48
	// managedAnswerBytes is the size from which on an answer grows in one step
	// to its final size instead of doubling.
	managedAnswerBytes = 1 << 20
	// maxNestedObjects is the number of objects that a parent's spec, or
	// status, may have. Four bytes of text can become a Go struct of a
	// thousand, so a parent that the API server accepts could exhaust the
	// memory when it is decoded. A template of the largest child has 10,000.
	maxNestedObjects = 20_000
)

// run is the state of one call: whether it was canceled, and what it has spent.
// It is nil-safe, for objects that were made without a call.
type run struct {
	ctx       context.Context // of the call; the run ends with it
	limits    Limits
	temporary int64 // the largest amount that was needed temporarily, in bytes
	wanted    int64 // bytes of the children that the hook has compared
	kept      int   // the number of kept children
	err       error // why the call has ended early
}

func newRun(ctx context.Context, limits Limits) *run {
	if limits.MaxAnswerBytes == 0 {
		limits.MaxAnswerBytes = DefaultMaxAnswerBytes
	}
	return &run{ctx: ctx, limits: limits}
}

// begin tells that a step begins.
func (r *run) begin(step Step) {
	if r.limits.Step != nil {
		r.limits.Step(step)
	}
}

// spend adds n bytes to what the call has spent, and returns an error if the
// call must end. The first error is returned by all later calls.
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

// spendTemporarily is spend for memory that is free again before the next such
// amount: only the largest amount counts.
func (r *run) spendTemporarily(n int64) error {
	if r == nil {
		return nil
	}
	more := n - r.temporary
	r.temporary = max(r.temporary, n)
	return r.spend(max(more, 0))
}

// spendOptionally is spendTemporarily for an optional part of the call: an
// amount that no call may have does not end it.
func (r *run) spendOptionally(n int64) error {
	if r == nil || r.err != nil {
		return r.failure()
	}
	passed := r.temporary
	err := r.spendTemporarily(n)
	if errors.Is(err, ErrTooMuch) {
		r.temporary, r.err = passed, nil
	}
	return err
}

func (r *run) failure() error {
	if r == nil {
		return nil
	}
	return r.err
}

// spendEach is spend for the i-th of many objects that cost about the same: it
// checks only every few objects.
func (r *run) spendEach(i int, each int64) error {
	if i%checkedObjects != 0 {
		return r.failure()
	}
	return r.spend(checkedObjects * each)
}

// addDesired adds the size of desired children, as far as it is known, and
// returns an error if the call must end.
func (r *run) addDesired(bytes int64) error {
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
	return r.addDesired(r.wanted)
}

// sizeOf returns the size of a decoded T, without what it points to.
func sizeOf[T any]() int64 { return int64(reflect.TypeFor[T]().Size()) }

// checkCount refuses an answer with more children than fit into its bytes,
// before any of them is read.
func (r *run) checkCount(req *request, children int) error {
	if int64(children) > r.limits.MaxAnswerBytes/leastChildBytes {
		return r.tooLarge(req, children)
	}
	return r.spend(0)
}

// room is called when done of all children are in the answer. It refuses an
// answer that is too large, and grows a large one to the size that it will
// need.
func (r *run) room(req *request, body []byte, done, all int) ([]byte, error) {
	length := int64(len(body))
	if length > r.limits.MaxAnswerBytes {
		return nil, r.tooLarge(req, all)
	}
	if err := r.addDesired(length); err != nil {
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
// largest number, and the largest member.
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

// isTooNested reports whether decoding a JSON text may take far more memory
// than the text.
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

// decodeParent decodes a parent, unless that would take far more memory than
// its text.
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
