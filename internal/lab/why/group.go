package why

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Group is some custom resources with the same first cause: one deed may end it for all.
type Group struct {
	Answers []Answer
}

// isUncalled reports whether Metacontroller is the cause, of whatever kind they are.
func (g Group) isUncalled() bool { return g.Answers[0].Because[0].Reason == notCalled }

// Groups returns those that are not Ready by their first cause, the largest group first. Before all come
// those for which Metacontroller does not call the hook.
func Groups(answers []Answer) []Group {
	index, groups := map[string]int{}, []Group{}
	for _, a := range answers {
		if a.IsReady() {
			continue
		}
		key := a.Kind + " " + a.Because[0].key()
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
		}
		return cmp.Compare(len(b.Answers), len(a.Answers))
	})
	return groups
}

// Text prints a group in a few lines: one custom resource as it is, of more the first.
func (g Group) Text(out io.Writer) {
	first := g.Answers[0]
	if len(g.Answers) == 1 {
		first.Text(out)
		return
	}
	const most = 5
	var names []string
	for i, a := range g.Answers {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(g.Answers)-most))
			break
		}
		name := strings.TrimPrefix(a.Namespace+"/"+a.Name, "/")
		if g.isUncalled() { // of any kind
			name = a.Kind + " " + name + ","
		}
		names = append(names, name)
	}
	cause := slices.MinFunc(g.Answers, func(a, b Answer) int { return a.Because[0].since().Compare(b.Because[0].since()) }).Because[0]
	text := fmt.Sprintf("%d of kind %s have the same cause: ", len(g.Answers), first.Kind)
	if g.isUncalled() {
		text = fmt.Sprintf("%d custom resources have the same cause: ", len(g.Answers))
	}
	title(out, text+strings.TrimSuffix(strings.Join(names, " "), ","))
	print(out, "because", cause.text())
	print(out, "", cause.Source+age(cause.Since, first.Seen))
	printList(out, "next", cause.Next, 2)
	print(out, "look", cause.Look)
}

// Summary prints all custom resources that are not Ready, those with the same cause together, and what
// was not read, some kinds of custom resources perhaps among it.
func Summary(out io.Writer, answers []Answer, unread ...string) {
	groups := Groups(answers)
	waiting := 0
	for i, group := range groups {
		if i > 0 {
			fmt.Fprintln(out)
		}
		group.Text(out)
		waiting += len(group.Answers)
	}
	switch {
	case waiting > 0:
		fmt.Fprintln(out)
		title(out, fmt.Sprintf("%d of %d custom resources are not Ready", waiting, len(answers)))
	case len(answers) == 1:
		title(out, "1 custom resource: it is Ready")
	default:
		title(out, fmt.Sprintf("%d custom resources: all are Ready", len(answers)))
	}
	for _, a := range answers {
		unread = append(unread, a.NotSeen...)
	}
	slices.Sort(unread)
	Answer{NotSeen: slices.Compact(unread)}.printUnseen(out)
}
