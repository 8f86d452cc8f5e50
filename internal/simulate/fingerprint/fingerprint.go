// Package fingerprint hashes the state of a simulation, so that simulations
// that will behave alike have the same hash.
package fingerprint

import (
	"fmt"
	"hash"
	"hash/fnv"
	"regexp"
	"time"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// What may differ between simulations that behave alike.
var (
	uidForm     = regexp.MustCompile(`00000000-0000-4000-8000-\d{12}`)
	timeForm    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	versionForm = regexp.MustCompile(`"resourceVersion":"\d+",?`)
	addressForm = regexp.MustCompile(`10\.244\.\d+\.\d+`)
	tokenForm   = regexp.MustCompile(`kube-api-access-\d+`)
)

// Printer prints a state, without UIDs, resource versions, addresses and points
// in time.
type Printer struct {
	hash hash.Hash64
	now  time.Time
	uids map[string]string
}

// New returns a Printer for a current time.
func New(now time.Time) *Printer {
	return &Printer{hash: fnv.New64a(), now: now, uids: map[string]string{}}
}

// Write prints the result of a write.
func (p *Printer) Write(w apiserver.Write) {
	if w.After == nil {
		p.Line(w.Ref.String() + " is gone")
		return
	}
	p.Line(string(w.JSON()))
}

// Line writes a line of text.
func (p *Printer) Line(text string) {
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
		return p.After(parsed)
	})
	fmt.Fprintln(p.hash, text)
}

// After returns how long something is from now.
func (p *Printer) After(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.Sub(p.now).String()
}

// Sum returns the number.
func (p *Printer) Sum() uint64 { return p.hash.Sum64() }
