package operator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/metacontroller"
)

// asked returns the Missing children that are in the answer.
func asked(d metacontroller.Difference) []string {
	if len(d.Conflicts) == 0 {
		return d.Missing
	}
	return slices.DeleteFunc(slices.Clone(d.Missing), func(ref string) bool {
		return slices.ContainsFunc(d.Conflicts, func(taken metacontroller.Conflict) bool { return taken.Ref == ref })
	})
}

// missingMessage says which children are not created, and possible causes. The overdue ones have
// been waited for longer than [ChildGrace].
func missingMessage(d metacontroller.Difference, overdue []string) string {
	var parts []string
	if len(d.Conflicts) > 0 {
		taken := make([]string, len(d.Conflicts))
		for i := range d.Conflicts {
			taken[i] = d.Conflicts[i].String()
		}
		advice := ", and is not taken over: choose another name"
		if !slices.ContainsFunc(d.Conflicts, func(taken metacontroller.Conflict) bool { return taken.By == metacontroller.APIServer }) {
			advice += ", or delete what has it"
		}
		parts = append(parts, listed(taken)+advice)
	}
	if len(overdue) > 0 {
		parts = append(parts, listed(overdue)+" not created after "+ChildGrace.String()+": the name may be taken, a quota or an admission webhook may refuse it, "+
			"or a field may be invalid; "+eventsHint(d))
		if len(d.Waiting) > 0 {
			parts = append(parts, listed(d.Waiting)+" of somebody else is not taken over before that")
		}
	}
	return strings.Join(parts, "; ")
}

func outdatedMessage(d metacontroller.Difference) string {
	message := "not updated yet: " + listed(d.Outdated)
	if len(d.Deleting) > 0 {
		message += "; to be deleted first, unless a finalizer holds it up: " + listed(d.Deleting)
	}
	return message
}

// notUpdatedMessage says which children were not updated, and possible causes.
func notUpdatedMessage(d metacontroller.Difference) string {
	if len(d.OtherSelector) > 0 {
		return listed(d.OtherSelector) + " not updated: it has another selector, which cannot be changed, so something else has made it; " +
			"delete it, and it is created again"
	}
	return listed(d.NotUpdated) + " not updated after " + ChildGrace.String() + ": the API server may refuse the update for a node port that is taken, " +
		"a field that cannot change, a quota or an admission webhook; " + eventsHint(d)
}

// eventsHint says where to read the API server's refusals: Metacontroller reports
// them as events of the parent.
func eventsHint(d metacontroller.Difference) string {
	if d.EventFlags == "" {
		return "see the events of this object"
	}
	return "see `kubectl events " + d.EventFlags + "`"
}

func listed(refs []string) string { return Listed(refs, ", ") }

// Listed joins the first three texts by a separator and counts the others, as
// in "a, b, c and 2 more", so that messages stay short.
func Listed(texts []string, separator string) string {
	const most = 3
	if len(texts) <= most {
		return strings.Join(texts, separator)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:most], separator), len(texts)-most)
}
