package composite

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// Trouble is what goes wrong in one sync. The zero value is nothing.
type Trouble struct {
	what string
	n    int // of the write, counted from 1
}

// What goes wrong in a sync.
const (
	// crash ends Metacontroller when the n-th write is done, or before all.
	crash = "crash"
	// refuse makes the API server fail at the n-th write.
	refuse = "refuse"
	// doubt makes the answer of the n-th write get lost, which has been done.
	doubt = "doubt"
	// loseStatus makes the API server fail at the write of the status.
	loseStatus = "lose-status"
	// unavailable makes the hook answer 503.
	unavailable = "503"
)

// ParseTrouble reads what follows "sync KIND/NAME", as in crash@2. The error says what
// can be written.
func ParseTrouble(text string) (Trouble, error) {
	what, number, hasNumber := strings.Cut(text, "@")
	d := Trouble{what: what}
	switch what {
	case "", loseStatus, unavailable:
		if !hasNumber {
			return d, nil
		}
	case crash, refuse, doubt:
		n, err := strconv.Atoi(number)
		if err == nil && n >= 0 {
			d.n = n
			return d, nil
		}
	}
	return d, fmt.Errorf("%q is no trouble of a sync: write crash@N, refuse@N, doubt@N, lose-status or 503", text)
}

// errInjected marks the errors that nobody is to blame for.
var errInjected = errors.New("made to fail")

// disturbed is the API server as one disturbed sync meets it.
type disturbed struct {
	server *apiserver.Server
	Trouble

	writes int
	dead   bool
}

// write does a write, unless it is to fail.
func (d *disturbed) write(isStatus bool, do func() error) error {
	if d.dead {
		return d.died()
	}
	if d.what == crash && d.n == 0 {
		d.dead = true
		return d.died()
	}
	d.writes++
	struck := d.writes == d.n
	switch {
	case d.what == loseStatus && isStatus, d.what == refuse && struck:
		return fmt.Errorf("%w: %w", errInjected, apierrors.NewInternalError(errors.New("the API server has failed")))
	case d.what == doubt && struck:
		_ = do() // whatever comes of it is not told
		return fmt.Errorf("%w: %w", errInjected, apierrors.NewTimeoutError("the answer of the API server is lost", 1))
	}
	err := do()
	if d.what == crash && struck {
		d.dead = true
		return d.died()
	}
	return err
}

func (d *disturbed) died() error {
	return fmt.Errorf("%w: Metacontroller dies after write %d of this sync", errInjected, d.n)
}

func (d *disturbed) Create(by apiserver.Actor, object apiserver.Object) (made apiserver.Object, err error) {
	err = d.write(false, func() error { made, err = d.server.Create(by, object); return err })
	return made, err
}

func (d *disturbed) Update(by apiserver.Actor, object apiserver.Object) (made apiserver.Object, err error) {
	err = d.write(false, func() error { made, err = d.server.Update(by, object); return err })
	return made, err
}

func (d *disturbed) UpdateStatus(by apiserver.Actor, ref apiserver.Ref, status map[string]any) (made apiserver.Object, err error) {
	err = d.write(true, func() error { made, err = d.server.UpdateStatus(by, ref, status); return err })
	return made, err
}

func (d *disturbed) Delete(by apiserver.Actor, ref apiserver.Ref, uid types.UID) error {
	return d.write(false, func() error { return d.server.Delete(by, ref, uid) })
}

func (d *disturbed) Apply(desired apiserver.Object) (made apiserver.Object, err error) {
	err = d.write(false, func() error { made, err = d.server.Apply(desired); return err })
	return made, err
}

// IsInjected reports whether an error was made to happen by a [Trouble].
func IsInjected(err error) bool { return errors.Is(err, errInjected) }

// Sync syncs a custom resource of which Metacontroller has heard, with something that
// goes wrong. It reports whether there is one.
func (m *Metacontroller) Sync(parent apiserver.Ref, what Trouble) bool {
	p := m.parents[parent]
	if p == nil || m.cache.Get(parent) == nil {
		return false
	}
	if what.what == "" {
		m.sync(p)
		return true
	}
	server, hooks := m.api, m.options.Call
	api := &disturbed{server: m.server, Trouble: what}
	m.api = api
	if what.what == unavailable {
		m.options.Call = func(time.Time, string, []byte) (int, []byte, error) {
			return http.StatusServiceUnavailable, []byte("made to fail"), nil
		}
	}
	m.sync(p)
	m.api, m.options.Call = server, hooks
	if api.dead {
		m.Restart()
	}
	return true
}
