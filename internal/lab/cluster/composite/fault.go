package composite

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Fault is a fault in one sync. The zero value is none.
type Fault struct {
	what string
	n    int // of the write, counted from 1
}

// The faults of a sync.
const (
	crash       = "crash"       // Metacontroller is killed after the n-th write, or before the first
	refuse      = "refuse"      // the n-th write fails in the API server
	doubt       = "doubt"       // the response of the n-th write, which was done, is lost
	loseStatus  = "lose-status" // the write of the status fails
	unavailable = "503"         // the hook's answer
)

// ParseFault parses what follows "sync KIND/NAME", as in crash@2. The error lists the faults.
func ParseFault(text string) (Fault, error) {
	if text == "" || text == loseStatus || text == unavailable {
		return Fault{what: text}, nil
	}
	what, number, _ := strings.Cut(text, "@")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || !slices.Contains([]string{crash, refuse, doubt}, what) {
		return Fault{}, fmt.Errorf("%q is not a fault of a sync: write crash@N, refuse@N, doubt@N, lose-status or 503", text)
	}
	return Fault{what, n}, nil
}

var errInjected = errors.New("made to fail")

type syncFault struct {
	Fault

	writes int
	dead   bool
	struck bool
}

func (d *syncFault) write(isStatus bool, do func() error) error {
	d.dead = d.dead || d.what == crash && d.n == 0
	if d.dead {
		d.struck = true
		return d.died()
	}
	d.writes++
	struck := d.writes == d.n
	d.struck = d.struck || struck || d.what == loseStatus && isStatus
	switch {
	case d.what == loseStatus && isStatus, d.what == refuse && struck:
		return fmt.Errorf("%w: %w", errInjected, apierrors.NewInternalError(errors.New("the API server has failed")))
	case d.what == doubt && struck:
		_ = do() // the result is lost
		return fmt.Errorf("%w: %w", errInjected, apierrors.NewTimeoutError("the answer of the API server is lost", 1))
	}
	err := do()
	if d.what == crash && struck {
		d.dead = true
		return d.died()
	}
	return err
}

func (d *syncFault) died() error {
	return fmt.Errorf("%w: Metacontroller dies after write %d of this sync", errInjected, d.n)
}

// IsInjected reports whether an error was made to happen by a [Fault].
func IsInjected(err error) bool { return errors.Is(err, errInjected) }

// Sync syncs a custom resource in Metacontroller's cache, with a fault. It
// reports whether there is one, and whether the fault has struck: a sync may write less.
func (m *Metacontroller) Sync(parent kube.Ref, what Fault) (synced, struck bool) {
	p := m.parents[parent]
	if p == nil || m.cache.Get(parent) == nil {
		return false, false
	}
	if what.what == "" {
		m.sync(p)
		return true, true
	}
	hooks := m.options.Call
	d := &syncFault{Fault: what}
	m.syncFault = d
	if what.what == unavailable {
		m.options.Call = func(time.Time, string, []byte) (int, []byte, error) {
			return http.StatusServiceUnavailable, []byte("made to fail"), nil
		}
	}
	m.sync(p)
	m.syncFault, m.options.Call = nil, hooks
	if d.dead {
		m.Restart()
	}
	return true, d.struck || what.what == unavailable
}
