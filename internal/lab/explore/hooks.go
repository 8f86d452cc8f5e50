package explore

import (
	"hash/maphash"
	"time"

	"k8s.io/utils/lru"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// mostAnswers is how many answers of hooks each worker remembers. One of a DataService has 30 KB, and
// those that are asked for again are of the same schedule, or of one shortly before.
const mostAnswers = 512

// answer is an answer of a hook.
type answer struct {
	code int
	body []byte
}

// remember returns a call that answers equal requests as before, for hooks are pure functions.
// The same request twice in a row is asked anew: so does a world that has come to rest, to see
// whether they are.
func remember(call player.Call) player.Call {
	seed, known, last := maphash.MakeSeed(), lru.New(mostAnswers), uint64(0)
	return func(now time.Time, path string, body []byte) (int, []byte, error) {
		key := maphash.Bytes(seed, body) ^ maphash.String(seed, path)*31 ^ maphash.Comparable(seed, now.UnixNano())*17
		if known, found := known.Get(key); found && key != last {
			last = key
			return known.(answer).code, known.(answer).body, nil
		}
		last = key
		code, text, err := call(now, path, body)
		if err == nil {
			known.Add(key, answer{code, text})
		}
		return code, text, err
	}
}
