package picture

import (
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// lane is the life of an object, or one condition of a custom resource.
type lane struct {
	ref       kube.Ref
	condition string // its type, or empty
	name      string
	isParent  bool
	parent    kube.Ref // the custom resource that it belongs to
	component string
	bars      []bar
	marks     []mark
	with      []string // objects without a state that share its life
}

// bar is a state from one time to another.
type bar struct {
	from, to time.Duration
	isOpen   bool // at the end of the run
	state
}

// mark is something that is done to an object at a time: sign is + ~ - or !, and text the field
// that is changed.
type mark struct {
	at        time.Duration
	sign      byte
	isOutside bool
	text      string
}

// enter begins a state, unless the last one continues.
func (l *lane) enter(now time.Duration, s state) {
	if n := len(l.bars); n > 0 && l.bars[n-1].isOpen {
		last := &l.bars[n-1]
		if last.text == s.text && last.level == s.level {
			if last.more != s.more {
				last.more = "" // it has said several things
			}
			return
		}
		if last.from == now {
			last.state = s
			return
		}
		last.to, last.isOpen = now, false
	}
	l.bars = append(l.bars, bar{from: now, isOpen: true, state: s})
}

func (l *lane) leave(now time.Duration) {
	if n := len(l.bars); n > 0 && l.bars[n-1].isOpen {
		l.bars[n-1].to, l.bars[n-1].isOpen = now, false
	}
}

// mark adds a mark. Of what strikes an object the consequence is enough.
func (l *lane) mark(now time.Duration, sign byte, isOutside bool) {
	if n := len(l.marks); n > 0 && l.marks[n-1].at == now && l.marks[n-1].isOutside && (l.marks[n-1].sign == '!' || l.marks[n-1].sign == sign) && isOutside {
		l.marks = l.marks[:n-1]
	}
	l.marks = append(l.marks, mark{at: now, sign: sign, isOutside: isOutside})
}

func (l *lane) isMarked(now time.Duration, sign byte) bool {
	return slices.ContainsFunc(l.marks, func(m mark) bool { return m.at == now && m.sign == sign })
}

// begins reports whether a state begins at a time.
func (l *lane) begins(now time.Duration) bool {
	return slices.ContainsFunc(l.bars, func(b bar) bool { return b.from == now })
}

// isTerminating reports whether its deletion was asked for and is marked already.
func (l *lane) isTerminating() bool {
	n := len(l.bars)
	return n > 0 && l.bars[n-1].isOpen && l.bars[n-1].text == beingDeleted
}

// hasState reports whether an object has been ready or on its way to that.
func (l *lane) hasState() bool {
	return slices.ContainsFunc(l.bars, func(b bar) bool { return b.level == good || b.level == working || b.level == bad })
}

// isForeign reports whether it is no child of what is played.
func (l *lane) isForeign() bool { return !l.isParent && l.parent == kube.Ref{} }

// changes reports whether a condition has had more than one status.
func (l *lane) changes() bool {
	status := func(b bar) string {
		status, _, _ := strings.Cut(b.text, " ")
		return status
	}
	return slices.ContainsFunc(l.bars, func(b bar) bool { return status(b) != status(l.bars[0]) })
}
