package record

// reason is why an exchange is not recorded.
type reason string

// The reasons.
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
	for _, why := range []reason{dropBusy, dropLarge, dropFull, dropInvalid, dropFailed, dropPanic, dropLate} {
		if count := r.dropped[why]; count > 0 {
			total += count
			attributes = append(attributes, "dropped_"+string(why), count)
		}
	}
	r.log.Info("recorded", append(attributes, "dropped", total)...)
}
