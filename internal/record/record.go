// Package record writes the requests that a server answers to files, so that
// another build can answer them too. Strings in a request are replaced, unless
// they are known to be harmless.
package record

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
)

// MostMemory is an upper bound for the memory of a recording, in bytes.
const MostMemory = 64 << 20

// Limits of a recording. Serving comes first: whatever exceeds a limit is
// dropped and counted.
const (
	// maxExchange is the size of a request with its answer, in bytes. Larger
	// ones are not recorded: processing one takes twenty times its size in
	// memory.
	maxExchange = 2 << 20
	// maxQueued and maxQueuedBytes limit the queue.
	maxQueued      = 256
	maxQueuedBytes = 4 << 20
	// MostCases and MostBytes limit the folder, including files of earlier
	// processes.
	MostCases = 10_000
	MostBytes = 512 << 20
)

const (
	// closeTime is how long Close waits for the writer.
	closeTime = 5 * time.Second
	// restFactor makes the writer sleep after each exchange, as a multiple of
	// the time that it took: it uses a fifth of one processor at most.
	restFactor = 4
)

// Exchange is a request with its answer.
type Exchange struct {
	Controller metacontroller.Controller
	Hook       metacontroller.HookName
	Now        time.Time
	// Request and Answer are the bodies. They are copied.
	Request, Answer []byte
}

func (e Exchange) size() int { return len(e.Request) + len(e.Answer) }

// Recorder writes exchanges in the background.
type Recorder struct {
	log     *slog.Logger
	files   *folder
	queue   chan Exchange
	closing chan struct{} // closed when Close begins
	done    chan struct{} // closed when the writer has ended

	schemas map[string]map[string]any // of the parents, by kind; only the writer uses it

	mutex   sync.Mutex
	closed  bool
	waiting int // bytes in the queue
	cases   int
	bytes   int64
	dropped map[reason]int
}

// New starts a Recorder that writes below a folder, which it creates. No other
// process may write there. Close ends it. The error is that of the file system.
func New(dir string, log *slog.Logger) (*Recorder, error) {
	files, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	r := &Recorder{
		log: log, files: files, queue: make(chan Exchange, maxQueued), closing: make(chan struct{}), done: make(chan struct{}),
		schemas: map[string]map[string]any{}, dropped: map[reason]int{}, cases: len(files.keys), bytes: files.bytes,
	}
	go r.run()
	return r, nil
}

// Record queues an exchange, and never blocks.
func (r *Recorder) Record(e Exchange) {
	switch {
	case e.size() > maxExchange:
		r.drop(dropLarge)
	case !r.enqueue(e):
		r.drop(dropBusy)
	}
}

// enqueue queues an exchange if there is room.
func (r *Recorder) enqueue(e Exchange) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.closed || len(r.queue) == maxQueued || r.waiting+e.size() > maxQueuedBytes {
		return false
	}
	// The bodies may be slices of larger buffers, or of reused ones.
	e.Request, e.Answer = bytes.Clone(e.Request), bytes.Clone(e.Answer)
	e.Now = e.Now.UTC().Truncate(time.Second)
	r.waiting += e.size()
	r.queue <- e // nobody else fills it
	return true
}

// Close waits for the queue to be written, for 5 s at most, and ends the
// Recorder.
func (r *Recorder) Close() {
	r.mutex.Lock()
	if r.closed {
		r.mutex.Unlock()
		return
	}
	r.closed = true
	close(r.queue)
	close(r.closing)
	r.mutex.Unlock()
	select {
	case <-r.done:
	case <-time.After(closeTime):
		r.mutex.Lock()
		r.dropped[dropLate] += len(r.queue) + 1 // with the current one
		r.mutex.Unlock()
	}
	r.sum()
}

func (r *Recorder) run() {
	defer close(r.done)
	for e := range r.queue {
		start := time.Now()
		r.handle(e)
		r.mutex.Lock()
		r.waiting -= e.size()
		r.mutex.Unlock()
		select {
		case <-time.After(restFactor * time.Since(start)):
		case <-r.closing:
		}
	}
}

// handle records one exchange. Serving goes on whatever happens. No log line
// quotes the request: a panic may, and is told by its type and its stack.
func (r *Recorder) handle(e Exchange) {
	defer func() {
		if cause := recover(); cause != nil {
			r.log.Error("the recorder panicked", "kind", e.Controller.Name(), "hook", string(e.Hook), "cause", fmt.Sprintf("%T", cause), "stack", string(debug.Stack()))
			r.drop(dropPanic)
		}
	}()
	err := r.write(e)
	why, isReason := errors.AsType[reason](err)
	switch {
	case isReason:
		r.drop(why)
	case err != nil:
		r.drop(dropFailed, "error", err)
	}
}

// isFull reports whether the folder has no room for a case of a size.
func (r *Recorder) isFull(size int) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.cases >= MostCases || r.bytes+int64(size) > MostBytes
}

// write writes the case of an exchange, unless it is there. Its error never quotes the request.
func (r *Recorder) write(e Exchange) error {
	if r.isFull(0) {
		return dropFull
	}
	out, err := r.newCase(e)
	if err != nil || out == nil {
		return err
	}
	size := len(out.input) + len(out.answer)
	if r.isFull(size) {
		return dropFull
	}
	if err := r.files.write(e.Controller.Name(), string(e.Hook), out); err != nil {
		return err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.cases++
	r.bytes += int64(size)
	return nil
}

// reason is why an exchange is not recorded.
type reason string

// Error makes a reason an error.
func (r reason) Error() string { return string(r) }

const (
	dropBusy    reason = "busy"    // exchanges arrived faster than they could be written
	dropLarge   reason = "large"   // request and answer are larger than maxExchange, or the answer to the masked request is
	dropFull    reason = "full"    // the folder is full
	dropInvalid reason = "invalid" // the hook refuses the masked request
	dropFailed  reason = "failed"  // a file could not be written
	dropPanic   reason = "panic"   // the recorder or the hook panicked
	dropLate    reason = "late"    // it was still queued when the recorder was closed
)

// drop counts an exchange that is not recorded. The first one for a reason is
// logged, and all are when the recorder is closed.
func (r *Recorder) drop(why reason, details ...any) {
	r.mutex.Lock()
	r.dropped[why]++
	isFirst := r.dropped[why] == 1
	r.mutex.Unlock()
	if isFirst {
		r.log.Warn("an exchange is not recorded; further ones are only counted", append(details, "reason", string(why))...)
	}
}

// sum logs what has been recorded and what has not.
func (r *Recorder) sum() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	total, attributes := 0, []any{"folder", r.files.dir, "cases", r.cases, "bytes", r.bytes}
	for _, why := range slices.Sorted(maps.Keys(r.dropped)) {
		total += r.dropped[why]
		attributes = append(attributes, "dropped_"+string(why), r.dropped[why])
	}
	r.log.Info("recorded", append(attributes, "dropped", total)...)
}
