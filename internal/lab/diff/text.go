package diff

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/internal/printable"
)

// mostPaths is how many changed fields a summary has.
const mostPaths = 20

// texts are the verdicts in words.
var texts = map[Verdict]string{
	NotSeen: "not seen", Changed: "changed in place", statusVerdict: "status",
}

func (v Verdict) text() string {
	if text, isOther := texts[v]; isOther {
		return text
	}
	return string(v)
}

// PrintSummary prints what the report means for a fleet.
func (r *Report) PrintSummary(w io.Writer) {
	w = printable.NewWriter(w)
	s := r.Summary()
	fmt.Fprintln(w, s.headline())
	if len(s.Lines) > 0 {
		table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
		fmt.Fprintln(table, "\nVERDICT\tKIND\tOBJECTS\tCUSTOM RESOURCES")
		for _, line := range s.Lines {
			fmt.Fprintf(table, "%s\t%s\t%d\t%d\n", line.Verdict.text(), line.Kind, line.Objects, line.Parents)
		}
		_ = table.Flush() // the writer below fails again
	}
	if len(s.Paths) > 0 {
		table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
		fmt.Fprintln(table, "\nKIND\tFIELD\tOBJECTS")
		for i, path := range s.Paths {
			if i == mostPaths {
				fmt.Fprintf(table, "\tand %d more\t\n", len(s.Paths)-i)
				break
			}
			fmt.Fprintf(table, "%s\t%s\t%d\n", path.Kind, path.Path, path.Objects)
		}
		_ = table.Flush()
	}
	for _, note := range r.notes() {
		fmt.Fprintf(w, "\n%s\n", note)
	}
}

// notes says what the tables do not have.
func (r *Report) notes() (notes []string) {
	if r.Rewritten > 0 {
		notes = append(notes, counted(r.Rewritten, "object")+" would be written without a difference to tell: only annotations of Metacontroller and Operetta change, or ignored fields.")
	}
	if len(r.NotSeen) == 0 {
		return notes
	}
	return append(notes, "Not seen: "+strings.Join(r.NotSeen, ", ")+". The dump has no object of these kinds. If kubectl was asked for them, say --seen all.")
}

// PrintObjects prints what happens to each object, as lines of a diff.
func (r *Report) PrintObjects(w io.Writer) {
	w = printable.NewWriter(w)
	for i := range r.Parents {
		for at, line := range r.Parents[i].lines() {
			if at == 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w, line)
		}
	}
}

// lines returns a custom resource and its objects, without what is only drift.
func (p *Parent) lines() []string {
	var lines []string
	if p.Refused != "" && !p.Drift {
		lines = append(lines, "! refused: "+p.Refused)
	}
	if p.Failed != "" && !p.Drift {
		lines = append(lines, "! failed: "+p.Failed)
	}
	if len(p.NotCompared) > 0 {
		lines = append(lines, "? not compared: its operator reads "+strings.Join(p.NotCompared, ", ")+", and the dump has none")
	}
	for _, o := range p.Objects {
		if !o.Drift {
			lines = append(lines, o.lines(p.Ref)...)
		}
	}
	lines = append(lines, p.statusLines()...)
	if len(lines) == 0 {
		return nil
	}
	return append([]string{fmt.Sprintf("@@ %s %s @@", p.Kind, p.Key())}, lines...)
}

// statusLines tells of the condition Ready, and how many other fields of the status change.
func (p *Parent) statusLines() []string {
	others, isReady := 0, false
	var lines []string
	for _, field := range p.Status {
		switch {
		case field.Drift:
		case strings.HasPrefix(field.Path, "status.conditions[Ready]"):
			isReady = true
		case strings.HasPrefix(field.Path, "status."):
			others++
		default:
			lines = append(lines, field.lines()...)
		}
	}
	switch {
	case isReady && others > 0:
		lines = append(lines, fmt.Sprintf("~ status: %s (and %s)", p.Ready, counted(others, "other field")))
	case isReady:
		lines = append(lines, "~ status: "+p.Ready)
	case others > 0:
		lines = append(lines, "~ status: "+counted(others, "field"))
	}
	return lines
}

var marks = map[Verdict]string{
	Refused: "!", Recreated: "~", Rolls: "~", Changed: "~", Created: "+", Deleted: "-", NotSeen: "?",
}

func (o Object) lines(parent kube.Ref) []string {
	name := o.Key()
	if o.Namespace == parent.Namespace {
		name = o.Name
	}
	line := fmt.Sprintf("%s %s/%s %s", marks[o.Verdict], o.Kind, name, o.Verdict.text())
	switch {
	case o.As != "":
		line += " as " + o.As
	case o.Reason != "":
		line += ": " + o.Reason
	case o.Verdict == NotSeen:
		line += ": it is desired, and the dump has no " + o.Kind
	}
	lines := []string{line}
	for _, field := range o.Fields {
		if !field.Drift {
			lines = append(lines, field.lines()...)
		}
	}
	return lines
}

func (f Field) lines() (lines []string) {
	before, after := kube.Shorten(f.Before, f.After)
	if f.Before == Hidden && f.After == Hidden {
		return []string{"~     " + f.Path + ": " + Hidden + ", and another"}
	}
	if f.Before != nil {
		lines = append(lines, "-     "+f.Path+": "+before)
	}
	if f.After != nil {
		lines = append(lines, "+     "+f.Path+": "+after)
	}
	return lines
}
