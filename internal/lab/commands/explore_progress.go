package commands

import (
	"fmt"
	"io"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/explore"
	"github.com/operetta-dev/operetta/internal/printable"
)

// progress tells on a terminal how far an exploration is, in a line that is written over.
type progress struct {
	to    io.Writer // or nil
	now   func() time.Time
	what  string
	begun time.Time
	doing string
	last  time.Time
}

func newProgress(to io.Writer) *progress { return &progress{to: to, now: time.Now} }

// clearLine goes to the begin of the line and empties it.
const clearLine = "\r\x1b[K"

// progressPause is how long a line stays at least.
const progressPause = 200 * time.Millisecond

// begin says what is explored.
func (p *progress) begin(what string) {
	p.what, p.doing = what, ""
	p.print("begins")
}

func (p *progress) print(text string) {
	if p.to != nil {
		fmt.Fprint(p.to, clearLine+printable.Line(p.what+": "+text, 160)) // one that is wrapped cannot be written over
	}
}

// end empties the line.
func (p *progress) end() {
	if p.to != nil {
		fmt.Fprint(p.to, clearLine)
	}
}

// tell is what a search tells.
func (p *progress) tell(at explore.Progress) {
	now := p.now()
	if at.Doing != p.doing {
		p.doing, p.begun, p.last = at.Doing, now, time.Time{}
	}
	if now.Sub(p.last) < progressPause && at.Done != at.Of {
		return
	}
	p.last = now
	took := now.Sub(p.begun)
	text := fmt.Sprintf("%d %s", at.Done, at.Doing)
	if at.Of > 0 {
		text = fmt.Sprintf("%d of %d %s", at.Done, at.Of, at.Doing)
	}
	text += ", " + took.Round(time.Second).String()
	if at.Of > at.Done && at.Done > 0 {
		text += fmt.Sprintf(", about %s left", (took * time.Duration(at.Of-at.Done) / time.Duration(at.Done)).Round(time.Second))
	}
	p.print(text + fmt.Sprintf(", found: %d", at.Found))
}
