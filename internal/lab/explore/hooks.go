package explore

import (
	"hash/maphash"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// mostAnswers is how many answers of hooks are remembered.
const mostAnswers = 8192

// answer is an answer of a hook.
type answer struct {
	code int
	body []byte
}

// remember returns a call that answers equal requests as before, for hooks are pure functions.
// The same request twice in a row is asked anew: so does a world that has come to rest, to see
// whether they are.
func remember(call player.Call) player.Call {
	seed, known, last := maphash.MakeSeed(), map[uint64]answer{}, uint64(0)
	return func(now time.Time, path string, body []byte) (int, []byte, error) {
		key := maphash.Bytes(seed, body) ^ maphash.String(seed, path)*31 ^ maphash.Comparable(seed, now.UnixNano())*17
		if a, found := known[key]; found && key != last {
			last = key
			return a.code, a.body, nil
		}
		last = key
		code, text, err := call(now, path, body)
		if err == nil {
			if len(known) >= mostAnswers {
				clear(known)
			}
			known[key] = answer{code, text}
		}
		return code, text, err
	}
}
