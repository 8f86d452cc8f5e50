package why

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/printable"
)

// Group is some custom resources with the same first cause: one deed may end it for all.
type Group struct {
	Answers []Answer
}

// isUncalled reports whether Metacontroller is the cause, of whatever kind they are.
func (g Group) isUncalled() bool { return g.Answers[0].Because[0].Reason == notCalled }

// Groups returns those that are not Ready by their first cause, the largest group first. Before all come
// those for which Metacontroller does not call the hook, and then those that are stuck.
func Groups(answers []Answer) []Group {
	index, groups := map[string]int{}, []Group{}
	for _, a := range answers {
		if a.IsReady() {
			continue
		}
		key := fmt.Sprint(a.Stuck, a.Kind, " ", a.Because[0].key())
		if a.Because[0].Reason == notCalled { // of any kind
			key = notCalled
		}
		i, isKnown := index[key]
		if !isKnown {
			i = len(groups)
			index[key] = i
			groups = append(groups, Group{})
		}
		groups[i].Answers = append(groups[i].Answers, a)
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		switch {
		case a.isUncalled():
			return -1
		case b.isUncalled():
			return 1
		case a.isStuck() != b.isStuck() && a.isStuck():
			return -1
		case a.isStuck() != b.isStuck():
			return 1
		}
		return cmp.Compare(len(b.Answers), len(a.Answers))
	})
	return groups
}

// isStuck reports whether somebody has to look: those that are stuck come in groups of their own.
func (g Group) isStuck() bool { return g.Answers[0].Stuck }

// names are those of the custom resources: the first few, and how many more there are.
func (g Group) names() string {
	const most = 5
	var names []string
	for i, a := range g.Answers {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(g.Answers)-most))
			break
		}
		name := strings.TrimPrefix(a.Namespace+"/"+a.Name, "/")
		if g.isUncalled() { // of any kind
			name = a.Kind + " " + name
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// what says how many there are, of which kind.
func (g Group) what() string {
	if g.isUncalled() {
		return fmt.Sprintf("%d custom resources", len(g.Answers))
	}
	return fmt.Sprintf("%d of kind %s", len(g.Answers), g.Answers[0].Kind)
}

// first is the cause that is told of all: the oldest.
func (g Group) first() Cause {
	return slices.MinFunc(g.Answers, func(a, b Answer) int { return a.Because[0].since().Compare(b.Because[0].since()) }).Because[0]
}

// Line is a group in one line.
func (g Group) Line() string {
	cause, label, head := g.first(), "in progress", g.Answers[0].Title()
	if g.isStuck() {
		label = "stuck"
	}
	if len(g.Answers) > 1 {
		head = g.what() + " (" + g.names() + ")"
	}
	return Labeled(label, head+": "+cause.text()+age(cause.Since, g.Answers[0].Seen))
}

// Labeled is a line of a summary.
func Labeled(label, text string) string {
	return fmt.Sprintf("%-12s %s", label, printable.Line(text, 2*maxMessage))
}

// Text prints a group in a few lines: one custom resource as it is, of more the first.
func (g Group) Text(out io.Writer) {
	first, cause := g.Answers[0], g.first()
	if len(g.Answers) == 1 {
		first.Text(out)
		return
	}
	title(out, g.what()+" have the same cause: "+g.names())
	print(out, "because", cause.text())
	print(out, "", cause.Source+age(cause.Since, first.Seen))
	printList(out, "next", cause.Next, 2)
	print(out, "look", cause.Look)
}

// Summary prints all custom resources that are not Ready, those with the same cause together: how many there are,
// then those that are stuck, then those in progress, in a line each or in details. What was not read comes last,
// some kinds of custom resources perhaps among it.
func Summary(out io.Writer, answers []Answer, details bool, unread ...string) {
	groups := Groups(answers)
	printCounts(out, answers)
	for _, group := range groups {
		if details {
			fmt.Fprintln(out)
			group.Text(out)
			continue
		}
		fmt.Fprintln(out, group.Line())
	}
	for _, a := range answers {
		unread = append(unread, a.NotSeen...)
	}
	if len(unread) > 0 {
		slices.Sort(unread)
		if details {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, Labeled("not seen", strings.Join(slices.Compact(unread), ", ")))
	}
	if len(groups) > 0 && !details {
		fmt.Fprintln(out, Labeled("look", "why KIND/NAME tells more of one, and --details of all"))
	}
}

// printCounts says how many custom resources are not Ready.
func printCounts(out io.Writer, answers []Answer) {
	waiting, stuck := 0, 0
	for _, a := range answers {
		if !a.IsReady() {
			waiting++
		}
		if a.Stuck {
			stuck++
		}
	}
	switch {
	case waiting > 0:
		verb := "are"
		if waiting == 1 {
			verb = "is"
		}
		title(out, fmt.Sprintf("%d of %s %s not Ready: %d stuck, %d in progress", waiting, counted(len(answers), "custom resource"), verb, stuck, waiting-stuck))
	case len(answers) == 1:
		title(out, "1 custom resource: it is Ready")
	default:
		title(out, fmt.Sprintf("%d custom resources: all are Ready", len(answers)))
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
