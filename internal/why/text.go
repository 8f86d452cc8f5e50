package why

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/operetta-dev/operetta/internal/printable"
)

// maxMessage is the longest message, in bytes, that is quoted.
const maxMessage = 400

func sortedKeys(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }

// Text prints an answer in at most twelve lines.
func (a Answer) Text(out io.Writer, now time.Time) {
	name := fmt.Sprintf("%s/%s", a.Kind, a.Name)
	if a.Namespace != "" {
		name += " in " + a.Namespace
	}
	if a.IsReady() {
		print(out, "", name+": Ready, nothing holds it"+age(a.Since, now))
		a.printUnseen(out)
		return
	}
	print(out, "", strings.TrimSpace(fmt.Sprintf("%s: Ready=%s %s", name, a.Ready, a.Reason))+age(a.Since, now))
	first := a.Because[0]
	print(out, "because", first.text())
	print(out, "", first.Source+age(first.Since, now))
	if rest := others(a.Because); rest != "" {
		print(out, "also", rest)
	}
	links := make([]string, len(first.Holds))
	for i, link := range first.Holds {
		links[i] = link.text()
	}
	print(out, "holds", strings.Join(links, " > "))
	printList(out, "waits", a.Waits, 2)
	printList(out, "next", a.Next, 3)
	print(out, "look", first.Look)
	a.printUnseen(out)
}

// printUnseen prints what was not read.
func (a Answer) printUnseen(out io.Writer) {
	if len(a.NotSeen) > 0 {
		print(out, "not seen", strings.Join(a.NotSeen, ", "))
	}
}

// print prints a line with its label.
func print(out io.Writer, label, text string) {
	if label != "" || strings.HasPrefix(text, " ") {
		label = fmt.Sprintf("  %-9s", label)
	}
	fmt.Fprintln(out, label+printable.Line(text, 4*maxMessage))
}

func printList(out io.Writer, label string, list []string, most int) {
	for i, text := range list {
		if i == most-1 && len(list) > most {
			print(out, label, fmt.Sprintf("and %d more", len(list)-i))
			return
		}
		print(out, label, text)
		label = " "
	}
}

// text returns a cause as one sentence.
func (c Cause) text() string {
	text := c.Ref.String()
	if c.Reason != "" && !strings.Contains(c.Message, c.Reason) {
		text += ": " + c.Reason
	}
	if c.Message != "" {
		text += ": " + printable.Line(c.Message, maxMessage)
	}
	return text
}

func (l Link) text() string {
	text := l.Kind + "/" + l.Name
	switch {
	case l.NotSeen:
		return text + " (not seen)"
	case l.State != "":
		return text + " (" + l.State + ")"
	}
	return text
}

// others counts the causes after the first, and names the next one.
func others(causes []Cause) string {
	rest := causes[1:]
	if len(rest) == 0 {
		return ""
	}
	text := printable.Line(rest[0].text(), maxMessage/2)
	if len(rest) > 1 {
		text += fmt.Sprintf("; and %d more", len(rest)-1)
	}
	return text
}

// age says since when.
func age(since *time.Time, now time.Time) string {
	if since == nil {
		return ""
	}
	return ", for " + duration.HumanDuration(max(0, now.Sub(*since)))
}
