package picture

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/printable"
)

// Places and sizes in pixels.
const (
	width    = 900
	margin   = 14
	maxName  = 240 // of where the names of lanes end
	tail     = 120 // what the last state has beyond the last event
	pitch    = 24  // from lane to lane
	barHigh  = 18
	fontSize = 12
	barFont  = 11
	markRoom = 16
	maxRows  = 3 // of what happens from outside
)

// style has the colours of light and dark pages.
const style = `text{font:12px -apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.t{font-size:15px;font-weight:600}.m{font-size:12px;font-weight:400;fill:#59636e}.a{font-size:11px;fill:#59636e}.h{font-weight:600}.i{font-style:italic}.s{font-size:11px}.a,.o{paint-order:stroke;stroke:#fff;stroke-width:4}
.bg{fill:#fff;stroke:#d0d7de}.grid{stroke:#eaeef2}.cut{fill:none;stroke:#818b98}.gap{fill:none;stroke:#fff;stroke-width:7}.out{stroke:#bc4c00;stroke-dasharray:3 3}
.bar{stroke-width:1}.bar.p{fill:#eaeef2;stroke:#aab2bb}.bar.n{fill:#f6f8fa;stroke:#818b98;stroke-dasharray:4 2}.bar.g{fill:#b8e6c6;stroke:#1a7f37}.bar.w{fill:#fff4cc;stroke:#9a6700;stroke-dasharray:4 2}
.bar.b{fill:#ffd3ce;stroke:#cf222e;stroke-width:2.5}.bar.s{fill:#d3e7ff;stroke:#0969da}
.hook{fill:#0969da}.hand{fill:#bc4c00}.sign{stroke:#fff;stroke-width:1.8;fill:none}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.m,.a{fill:#9aa4af}.bg{fill:#0d1117;stroke:#3d444d}.grid{stroke:#21262d}.gap,.a,.o{stroke:#0d1117}.out{stroke:#f0883e}
.bar.p{fill:#262c36;stroke:#656c76}.bar.n{fill:#161b22;stroke:#818b98}.bar.g{fill:#143d22;stroke:#3fb950}.bar.w{fill:#3b2e08;stroke:#d29922}.bar.b{fill:#56171b;stroke:#f85149}.bar.s{fill:#10305c;stroke:#4493f8}
.hook{fill:#1f6feb}.hand{fill:#bd561d}}
`

// signs are the paths of the marks' signs, around their middle.
var signs = map[byte]string{'+': "M-3.5 0h7M0-3.5v7", '-': "M-3.5 0h7", '~': "M-4 1.5q2-4 4-1.5t4-1.5", '!': "M0-4v4.5M0 2.6v1.4"}

// drawing is an SVG file under way.
type drawing struct {
	strings.Builder

	axis    axis
	nameEnd int
}

// Write writes what has happened in a World as an SVG file of 900 pixels' width, and nothing
// where nothing has.
func Write(w io.Writer, world *player.World) error {
	if len(world.Steps) == 0 {
		return nil
	}
	s := tell(world)
	d := &drawing{}
	for _, l := range s.lanes {
		name := nameAt(l)
		d.nameEnd = min(maxName, max(d.nameEnd, name.x+pixels(l.name+name.more, name.size)))
	}
	d.axis = newAxis(s.times, d.nameEnd+margin, width-margin, tail)
	labels, rows := d.place(s.outside)
	legend := legendOf(s)
	top := 48 + rows*18
	first := top + 20
	bottom := first + len(s.lanes)*pitch
	height := bottom + 8
	if len(legend) > 0 {
		height += 24
	}
	fmt.Fprintf(d, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"title desc\">\n", width, height, width, height)
	fmt.Fprintf(d, "<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n<style>\n%s</style>\n", escaped(s.title+": "+s.outcome), describe(s), style)
	fmt.Fprintf(d, "<rect class=\"bg\" x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", width-1, height-1)
	d.headline(s)
	d.grid(top, bottom)
	for i, l := range s.lanes {
		d.lane(l, first+i*pitch)
	}
	d.cuts(top+4, bottom)
	d.outside(labels, bottom)
	d.ticks(top)
	d.legend(legend, height-14)
	d.WriteString("</svg>\n")
	_, err := io.WriteString(w, d.String())
	return err
}

func (d *drawing) headline(s story) {
	title := cutEnd(s.title, 18, width-2*margin)
	outcome := cutEnd(s.outcome, fontSize, width-2*margin-10-pixels(title, 18))
	fmt.Fprintf(d, "<text class=\"t\" x=\"%d\" y=\"26\">%s<tspan class=\"m\" dx=\"10\">%s</tspan></text>\n", margin, escaped(title), escaped(outcome))
}

// grid draws a line for each time down to the last lane.
func (d *drawing) grid(top, bottom int) {
	for _, x := range d.axis.at {
		fmt.Fprintf(d, "<path class=\"grid\" d=\"M%d.5 %dV%d\"/>\n", x, top+6, bottom)
	}
}

// ticks writes the times that have room.
func (d *drawing) ticks(y int) {
	free := 0
	for i, x := range d.axis.at {
		text := d.axis.times[i].Round(time.Second).String()
		if half := pixels(text, barFont)/2 + 3; x-half >= free {
			d.text("a", x, y, "middle", text)
			free = x + half
		}
	}
}

// cuts interrupts the lanes where a wait is cut, with a torn edge.
func (d *drawing) cuts(top, bottom int) {
	for _, x := range d.axis.cuts {
		torn := strings.Repeat("l4 6l-4 6", (bottom-top)/12+1)
		fmt.Fprintf(d, "<path class=\"gap\" d=\"M%d %d%s\"/><path class=\"cut\" d=\"M%d %d%sM%d %d%s\"/>\n", x-2, top, torn, x-5, top, torn, x+1, top, torn)
	}
}

// name is how the name of a lane is written.
type name struct {
	class   string
	x, size int
	more    string // behind it
}

func nameAt(l *lane) name {
	n := name{class: "n", x: margin + 12, size: fontSize}
	switch {
	case l.isParent:
		n = name{class: "h", x: margin, size: fontSize + 1} // it is bold
	case l.condition != "":
		n.class = "m"
	case l.isForeign():
		n.class = "i"
	}
	if len(l.with) > 0 {
		n.more = fmt.Sprintf(" +%d", len(l.with))
	}
	return n
}

func (d *drawing) lane(l *lane, y int) {
	n := nameAt(l)
	d.text(n.class, n.x, y+13, "", cutMiddle(l.name, n.size, d.nameEnd-n.x-pixels(n.more, n.size))+n.more)
	for _, b := range l.bars {
		d.bar(l, b, y)
	}
	for i, m := range l.marks {
		x := d.markAt(l, i)
		d.mark(m, x, y+barHigh/2)
		if m.text != "" && !l.begins(m.at) {
			d.text("s", x+12, y+13, "", cutEnd(m.text, barFont, d.roomAfter(l, i)-x-16))
		}
	}
}

// roomAfter returns up to where there is nothing behind a mark: the next one, or another state.
func (d *drawing) roomAfter(l *lane, i int) int {
	x := d.markAt(l, i)
	to := d.axis.room(x, d.axis.end)
	if i+1 < len(l.marks) {
		to = min(to, d.markAt(l, i+1)-10)
	}
	for _, b := range l.bars {
		if b.from > l.marks[i].at {
			to = min(to, d.axis.x(b.from))
		}
	}
	return to
}

// bar draws a state, with as many of its words as fit.
func (d *drawing) bar(l *lane, b bar, y int) {
	from, to := d.axis.x(b.from), d.axis.end
	if !b.isOpen {
		to = d.axis.x(b.to)
	}
	textFrom := from + 5
	if l.isMarked(b.from, '+') || l.isMarked(b.from, '~') || l.isMarked(b.from, '!') {
		textFrom += markRoom
	}
	textTo := to - 4
	for i, m := range l.marks { // those within it and at its end
		if m.at > b.from && (b.isOpen || m.at < b.to || m.sign == '-') {
			textTo = min(textTo, d.markAt(l, i)-10)
		}
	}
	text := wordsThatFit(b.state, d.axis.room(textFrom, textTo)-textFrom)
	fmt.Fprintf(d, "<rect class=\"bar %s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\">", b.level, from, y, max(2, to-from), barHigh)
	if whole := b.whole(); whole != text {
		fmt.Fprintf(d, "<title>%s</title>", escaped(whole))
	}
	d.WriteString("</rect>\n")
	if text != "" {
		d.text("s", textFrom, y+13, "", text)
	}
}

// whole is all that is known of a state.
func (s state) whole() string {
	if s.more == "" {
		return s.text
	}
	return s.text + ": " + s.more
}

// wordsThatFit returns a state in the most words that have room.
func wordsThatFit(s state, room int) string {
	choices := []string{s.whole(), s.text}
	if status, reason, _ := strings.Cut(s.text, " "); status == "True" || status == "False" || status == "Unknown" {
		choices = append(choices, reason, cutEnd(reason, barFont, room), status)
	} else {
		choices = append(choices, cutEnd(s.text, barFont, room))
	}
	for _, text := range choices {
		if pixels(text, barFont) <= room && text != "" {
			return text
		}
	}
	return ""
}

// markAt returns the place of a mark: a deletion is before its time, and others behind it.
func (d *drawing) markAt(l *lane, i int) int {
	x := d.axis.x(l.marks[i].at)
	if l.marks[i].sign == '-' {
		return x - 9
	}
	for j := i - 1; j >= 0 && l.marks[j].at == l.marks[i].at && l.marks[j].sign != '-'; j-- {
		x += markRoom
	}
	return x + 10
}

func (d *drawing) mark(m mark, x, y int) {
	shape := `<circle class="hook" r="7"/>`
	if m.isOutside {
		shape = `<path class="hand" d="M0-8.5L8.5 0 0 8.5-8.5 0z"/>`
	}
	fmt.Fprintf(d, "<g transform=\"translate(%d %d)\">%s<path class=\"sign\" d=\"%s\"/></g>\n", x, y, shape, signs[m.sign])
}

func (d *drawing) text(class string, x, y int, anchor, text string) {
	if text == "" {
		return
	}
	if anchor != "" {
		anchor = fmt.Sprintf(" text-anchor=%q", anchor)
	}
	fmt.Fprintf(d, "<text class=\"%s\" x=\"%d\" y=\"%d\"%s>%s</text>\n", class, x, y, anchor, escaped(text))
}

// escaped makes a text safe in XML, and visible.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(printable.Escaped(text))) // a Builder takes everything
	return b.String()
}
