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
func (a Answer) Text(out io.Writer) {
	name := a.Title()
	if a.IsReady() {
		title(out, name+": Ready, nothing holds it"+age(a.Since, a.Seen))
		a.printUnseen(out)
		return
	}
	if a.Deleting {
		name += ", which is being deleted"
	}
	title(out, strings.TrimSpace(fmt.Sprintf("%s: Ready=%s %s", name, a.Ready, a.Reason))+age(a.Since, a.Seen))
	first := a.Because[0]
	print(out, "because", first.text())
	print(out, "", first.Source+age(first.Since, a.Seen))
	if rest := others(a.Because); rest != "" {
		print(out, "also", rest)
	}
	links := make([]string, len(first.Holds))
	for i, link := range first.Holds {
		links[i] = link.text()
	}
	links[len(links)-1] = a.String() // its state is in the first line
	print(out, "holds", strings.Join(links, " > "))
	if len(a.Waits) > 0 {
		print(out, "waits", a.Waits[0]+more(len(a.Waits)-1))
	}
	printList(out, "next", a.Next, 3)
	print(out, "look", first.Look)
	a.printUnseen(out)
}

// Title is the name of the custom resource, with its namespace.
func (a Answer) Title() string {
	if a.Namespace == "" {
		return a.String()
	}
	return a.String() + " in " + a.Namespace
}

// printUnseen prints what was not read.
func (a Answer) printUnseen(out io.Writer) {
	if len(a.NotSeen) > 0 {
		print(out, "not seen", strings.Join(a.NotSeen, ", "))
	}
}

// print prints a line with its label.
func print(out io.Writer, label, text string) {
	fmt.Fprintf(out, "  %-9s %s\n", label, printable.Line(text, 4*maxMessage))
}

// title prints the first line.
func title(out io.Writer, text string) { fmt.Fprintln(out, printable.Line(text, maxMessage)) }

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
		text += ": " + printable.Ends(c.Message, maxMessage)
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
	first := causes[0]
	rest := slices.DeleteFunc(slices.Clone(causes[1:]), func(c Cause) bool { return c.key() == first.key() })
	var parts []string
	if alike := len(causes) - 1 - len(rest); alike > 0 {
		parts = append(parts, fmt.Sprintf("the same of %d more of kind %s", alike, first.Ref.Kind))
	}
	if len(rest) > 0 {
		parts = append(parts, printable.Ends(rest[0].text(), maxMessage/2)+more(len(rest)-1))
	}
	return strings.Join(parts, "; ")
}

// more counts what is not shown.
func more(count int) string {
	if count == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more", count)
}

// age says since when.
func age(since *time.Time, now time.Time) string {
	if since == nil {
		return ""
	}
	return ", for " + duration.HumanDuration(max(0, now.Sub(*since)))
}
