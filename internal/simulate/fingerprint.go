package simulate

import (
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// What differs between worlds that will go on in the same way.
var (
	uidForm     = regexp.MustCompile(`00000000-0000-4000-8000-\d{12}`)
	timeForm    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	versionForm = regexp.MustCompile(`"resourceVersion":"\d+",?`)
	addressForm = regexp.MustCompile(`10\.244\.\d+\.\d+`)
	tokenForm   = regexp.MustCompile(`kube-api-access-\d+`)
)

// Fingerprint returns a number that is the same for worlds that go on in the same
// way: it leaves out by which UIDs, resource versions, addresses and at what time
// they have come there, but for how long ago something was.
func (w *World) Fingerprint() uint64 {
	p := &printer{now: w.clock.now, uids: map[string]string{}}
	for _, object := range w.Objects() {
		p.line(string(w.server.JSON(object)))
	}
	m := w.composite
	if m.late != nil {
		p.line("heard")
		for _, object := range m.cache.Objects() {
			if ref := RefOf(object); object == w.server.Get(ref) {
				p.line("= " + ref.String())
			} else {
				p.line(string(m.cache.JSON(object)))
			}
		}
		for _, kind := range m.late.kinds() {
			for _, n := range m.late.pending[kind] {
				p.write(n)
			}
		}
	}
	for _, one := range m.ordered() {
		p.line(fmt.Sprintf("%s %t %t %s %d %d", one.ref, one.queued, one.byTimer, p.after(one.due), one.idle, one.failures))
		if one.selection != nil {
			p.line(fmt.Sprintf("%s %d %s", one.selection.uid, one.selection.generation, p.after(one.selection.asked)))
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(m.applied), Ref.Compare) {
		p.line(fmt.Sprintf("%s %s %s %d", ref, m.applied[ref].desired, m.applied[ref].uid, m.applied[ref].generation))
	}
	p.kubernetes(w.kubernetes)
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(p.text.String()))
	return hash.Sum64()
}

// printer writes down a world.
type printer struct {
	text strings.Builder
	now  time.Time
	uids map[string]string
}

// write writes what a write has left.
func (p *printer) write(w apiserver.Write) {
	if w.After == nil {
		p.line(w.Ref.String() + " is gone")
		return
	}
	p.line(string(w.JSON()))
}

func (p *printer) line(text string) {
	text = versionForm.ReplaceAllString(text, "")
	text = addressForm.ReplaceAllString(text, "IP")
	text = tokenForm.ReplaceAllString(text, "kube-api-access")
	text = uidForm.ReplaceAllStringFunc(text, func(uid string) string {
		if p.uids[uid] == "" {
			p.uids[uid] = fmt.Sprint("uid-", len(p.uids))
		}
		return p.uids[uid]
	})
	text = timeForm.ReplaceAllStringFunc(text, func(at string) string {
		parsed, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return at
		}
		return p.after(parsed)
	})
	p.text.WriteString(text)
	p.text.WriteByte('\n')
}

// after returns how long something is from now.
func (p *printer) after(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.Sub(p.now).String()
}

func (p *printer) kubernetes(k *kubernetes) {
	for _, ref := range slices.SortedFunc(maps.Keys(k.queue), Ref.Compare) {
		p.line("looks at " + ref.String())
	}
	for _, ref := range slices.SortedFunc(maps.Keys(k.timers), Ref.Compare) {
		p.line(ref.String() + " at " + p.after(k.timers[ref]))
	}
	for _, ref := range slices.SortedFunc(maps.Keys(k.retries), Ref.Compare) {
		p.line(ref.String() + " again at " + p.after(k.retries[ref]))
	}
	for _, uid := range slices.Sorted(maps.Keys(k.lost)) {
		p.line(fmt.Sprintf("%s has lost %d", uid, k.lost[uid]))
	}
	if k.pods != nil {
		for _, pod := range k.pods.Objects() {
			if pod != k.server.Get(RefOf(pod)) {
				p.line("controllers know")
				p.line(string(k.pods.JSON(pod)))
			}
		}
		for _, n := range k.pods.pending {
			p.line("to hear of " + n.Ref.String())
			p.write(n)
		}
	}
	for _, uid := range k.orphans {
		p.line("orphans of " + string(uid))
	}
}
