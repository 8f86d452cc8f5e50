package picture

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// label is what happens from outside, with its place.
type label struct {
	x, row int // of its time
	textX  int
	anchor string
	text   string
}

// place finds room for what happens from outside, in as few rows as possible.
func (d *drawing) place(list []outside) (labels []label, rows int) {
	used := make([][][2]int, maxRows)
	for _, o := range list {
		l := label{x: d.axis.x(o.at), text: o.text}
		l.textX = l.x + 10
		right := width - margin
		needs := pixels(l.text, fontSize)
		from, to := l.x-4, min(l.textX+needs, right)
		if l.textX+needs > right && l.x-10-needs > margin {
			l.textX, l.anchor = l.x-10, "end"
			from, to = l.textX-needs, l.x+4
		} else {
			l.text = cutEnd(l.text, fontSize, right-l.textX)
		}
		for l.row < maxRows && overlaps(used[l.row], from, to) {
			l.row++
		}
		if l.row == maxRows { // the mark has to do
			l.row, l.text = maxRows-1, ""
		} else {
			used[l.row] = append(used[l.row], [2]int{from, to + 8})
		}
		rows = max(rows, l.row+1)
		labels = append(labels, l)
	}
	return labels, rows
}

func overlaps(used [][2]int, from, to int) bool {
	for _, u := range used {
		if from < u[1] && u[0] < to {
			return true
		}
	}
	return false
}

// outside draws a line through all lanes for what happens from outside, and says what it is.
func (d *drawing) outside(labels []label, bottom int) {
	for _, l := range labels {
		y := 44 + l.row*18
		fmt.Fprintf(d, "<path class=\"out\" d=\"M%d.5 %dV%d\"/><path class=\"hand\" d=\"M%d %dl5 5-5 5-5-5z\"/>\n", l.x, y+4, bottom, l.x, y-5)
	}
	for _, l := range labels {
		d.text("o", l.textX, 48+l.row*18, l.anchor, l.text)
	}
}

// entry explains a mark.
type entry struct {
	mark

	text string
}

// legendOf explains the marks that a picture has, and what it leaves out.
func legendOf(s story) (legend []entry) {
	has := func(is func(mark) bool) bool {
		return slices.ContainsFunc(s.lanes, func(l *lane) bool { return slices.ContainsFunc(l.marks, is) })
	}
	for _, e := range []entry{{mark{sign: '+'}, "created"}, {mark{sign: '~'}, "changed"}, {mark{sign: '-'}, "deleted"}, {mark{sign: '!'}, "its sync failed"}} {
		if has(func(m mark) bool { return m.sign == e.sign && !m.isOutside }) {
			legend = append(legend, e)
		}
	}
	if has(func(m mark) bool { return m.isOutside }) {
		legend = append(legend, entry{mark{isOutside: true}, "by a person or a fault"})
	}
	if slices.ContainsFunc(s.lanes, func(l *lane) bool { return slices.ContainsFunc(l.bars, bar.isDashed) }) {
		legend = append(legend, entry{text: "dashed: False, or not ready"})
	}
	if slices.ContainsFunc(s.lanes, (*lane).isForeign) {
		legend = append(legend, entry{text: "italic: no child"})
	}
	kinds := map[string]bool{}
	for _, l := range s.lanes {
		for _, name := range l.with {
			kind, _, _ := strings.Cut(name, "/")
			kinds[kind] = true
		}
	}
	if len(kinds) > 0 {
		legend = append(legend, entry{text: "+n: with n more objects, each a " + strings.Join(slices.Sorted(maps.Keys(kinds)), " or ")})
	}
	if s.omitted > 0 {
		legend = append(legend, entry{text: fmt.Sprintf("%d lanes are left out", s.omitted)})
	}
	return legend
}

func (b bar) isDashed() bool { return b.level == unset || b.level == working }

func (d *drawing) legend(legend []entry, y int) {
	x := margin
	for _, e := range legend {
		if e.mark != (mark{}) {
			d.mark(e.mark, x+9, y-4)
			x += 21
		}
		d.text("a", x, y, "", e.text)
		x += 17 + pixels(e.text, barFont)
	}
}

// describe tells a picture in words, as XML.
func describe(s story) string {
	var lines []string
	for _, o := range s.outside {
		lines = append(lines, fmt.Sprintf("%s: %s.", o.at.Round(time.Second), o.text))
	}
	for _, l := range s.lanes {
		name := l.name
		if l.condition != "" {
			name = l.ref.String() + " " + name
		}
		if len(l.with) > 0 {
			name += " with " + strings.Join(l.with, ", ")
		}
		var states []string
		for i, b := range l.bars {
			text := b.text
			if l.condition == "" {
				text = b.whole()
			}
			states = append(states, cmp.Or(text, "exists")+" from "+b.from.Round(time.Second).String())
			isFollowed := i+1 < len(l.bars) && l.bars[i+1].from == b.to
			switch {
			case l.isMarked(b.to, '-') && !b.isOpen && b.text != beingDeleted:
				states = append(states, "deleted at "+b.to.Round(time.Second).String())
			case !b.isOpen && !isFollowed:
				states = append(states, "absent from "+b.to.Round(time.Second).String())
			}
		}
		lines = append(lines, name+": "+strings.Join(states, ", ")+".")
	}
	for i := range lines {
		lines[i] = escaped(lines[i])
	}
	return strings.Join(lines, "\n")
}
