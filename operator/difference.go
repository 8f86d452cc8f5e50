package operator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/metacontroller"
)

// graceText is [ChildGrace] in a message.
var graceText = ChildGrace.String()

// asked returns those of the Missing that are asked for.
func asked(d metacontroller.Difference) []string {
	if len(d.Taken) == 0 {
		return d.Missing
	}
	return slices.DeleteFunc(slices.Clone(d.Missing), func(ref string) bool {
		return slices.ContainsFunc(d.Taken, func(taken metacontroller.Taken) bool { return taken.Ref == ref })
	})
}

// blocked tells which children do not come, and what to do about it.
func blocked(d metacontroller.Difference, isOver bool) string {
	var parts []string
	if len(d.Taken) > 0 {
		taken := make([]string, len(d.Taken))
		for i := range d.Taken {
			taken[i] = d.Taken[i].String()
		}
		parts = append(parts, listed(taken)+", and is not taken over: choose another name, or delete what has it")
	}
	if missing := asked(d); isOver {
		parts = append(parts, listed(missing)+" not created after "+graceText+": the name may be taken, a quota or an admission webhook may refuse it, "+
			"or a field may be invalid; "+events(d))
	}
	return strings.Join(parts, "; ")
}

// refused tells which children do not change, and why that may be.
func refused(d metacontroller.Difference) string {
	return listed(d.NotUpdated) + " not updated after " + graceText + ": the API server may refuse the update for a node port that is taken, " +
		"a field that cannot change, a quota or an admission webhook; " + events(d)
}

// events tells where the API server's refusals are to be read: Metacontroller
// reports them as events of the parent.
func events(d metacontroller.Difference) string {
	if d.EventFlags == "" {
		return "see the events of this object"
	}
	return "see `kubectl events " + d.EventFlags + "`"
}

// listed names the first children.
func listed(refs []string) string { return Listed(refs, ", ") }

// Listed joins the first three of some texts by a separator, and counts the others, as
// in "a, b, c and 2 more". Messages do not grow with what they tell of.
func Listed(texts []string, separator string) string {
	const most = 3
	if len(texts) <= most {
		return strings.Join(texts, separator)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:most], separator), len(texts)-most)
}
