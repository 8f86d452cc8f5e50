package diff

import (
	"fmt"
	"io"
	"strings"

	"github.com/operetta-dev/operetta/internal/printable"
)

// MaxMarkdown is how many bytes the Markdown has at most: a comment on GitHub may have 65,535
// characters.
const MaxMarkdown = 60_000

// longestCell is how long a text outside of the diff may be.
const longestCell = 1000

// tail is the room for what is said at the end.
const tail = 200

// PrintMarkdown prints the report for a comment on a pull request: the summary, and as many custom
// resources as there is room for.
func (r *Report) PrintMarkdown(w io.Writer) error {
	var b strings.Builder
	s := r.Summary()
	fmt.Fprintf(&b, "**%s**\n", s.headline())
	if len(s.Lines) > 0 {
		b.WriteString("\n| Verdict | Kind | Objects | Custom resources |\n| --- | --- | --- | --- |\n")
		for _, line := range s.Lines {
			fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", line.Verdict.text(), cell(line.Kind), line.Objects, line.Parents)
		}
	}
	if len(s.Paths) > 0 {
		b.WriteString("\n| Kind | Field | Objects |\n| --- | --- | --- |\n")
		for i, path := range s.Paths {
			if i == mostPaths {
				fmt.Fprintf(&b, "| | and %d more | |\n", len(s.Paths)-i)
				break
			}
			fmt.Fprintf(&b, "| %s | %s | %d |\n", cell(path.Kind), cell(path.Path), path.Objects)
		}
	}
	for _, note := range r.notes() {
		fmt.Fprintf(&b, "\n%s\n", cell(note))
	}
	r.writeBlocks(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// cell returns a text for a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "`", "'", "<", "&lt;", "@", "&#64;").Replace(printable.Line(text, longestCell))
}

// writeBlocks writes what happens to objects as a diff, in which nothing is markup: each of its lines
// begins with a mark.
func (r *Report) writeBlocks(b *strings.Builder) {
	const fence = "\n```diff\n"
	isOpen, isFull, left := false, false, 0
	for i := range r.Parents {
		lines := r.Parents[i].lines()
		if len(lines) == 0 {
			continue
		}
		text := escaped(lines)
		if isFull = isFull || b.Len()+len(fence)+len(text)+tail > MaxMarkdown; isFull {
			left++
			continue
		}
		if !isOpen {
			b.WriteString(fence)
		}
		isOpen = true
		b.WriteString(text)
	}
	if isOpen {
		b.WriteString("```\n")
	}
	if left > 0 {
		fmt.Fprintf(b, "\n%s left out, as there is no room: see `operetta diff`.\n", counted(left, "custom resource"))
	}
}

func escaped(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(printable.Escaped(line))
		b.WriteByte('\n')
	}
	return b.String()
}
