package why

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Cause is something that keeps a custom resource from being Ready.
type Cause struct {
	// Ref is the object, and Source what of it, or about it, says so.
	Ref    Ref    `json:"object"`
	Source string `json:"source"`
	// Reason is one word, and Message a sentence of whoever reported it.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Since is since when, where anything tells.
	Since *time.Time `json:"since,omitempty"`
	// Holds leads from the object to the custom resource.
	Holds []Link `json:"holds"`
	// Next is what happens by itself, and Look the command that shows more.
	Next []string `json:"next,omitempty"`
	Look string   `json:"look"`

	rank       rank
	container  string
	isReplaced bool // the object, by whoever made it
}

// Link is an object on the way from a cause to the custom resource.
type Link struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// State is how far the object is, in a few words.
	State string `json:"state,omitempty"`
	// NotSeen is set for one that was not read.
	NotSeen bool `json:"notSeen,omitempty"`
}

// rank is the order of causes: the others may follow from the first.
type rank int

const (
	// unanswered: the operator was not asked, or has no answer.
	unanswered rank = iota
	// failing: an object cannot do its work.
	failing
	// stalled: the operator says that a person is needed.
	stalled
	// absent: an object does not exist yet.
	absent
	// progressing: an object has not done its work yet.
	progressing
	// beside: an object waits that the custom resource may not need.
	beside
	// told: the condition Ready, where no object tells more.
	told
)

// compare puts the first cause first: within a rank the oldest, and of several at that time the
// deepest.
func (c Cause) compare(other Cause) int {
	return cmp.Or(cmp.Compare(c.rank, other.rank), c.since().Compare(other.since()),
		cmp.Compare(len(other.Holds), len(c.Holds)), c.Ref.Compare(other.Ref), strings.Compare(c.Message, other.Message))
}

// isFollowedBy reports whether another cause is nothing but what follows from this one: it is about an
// object on the way from here to the custom resource, which waits, or repeats the reason.
func (c Cause) isFollowedBy(other Cause) bool {
	return (other.rank >= stalled || other.Reason == c.Reason) && slices.ContainsFunc(c.Holds, func(l Link) bool {
		return l.Kind == other.Ref.Kind && l.Name == other.Ref.Name
	})
}

// never is later than all times: what has no time comes after what has one.
var never = time.Unix(1<<40, 0)

func (c Cause) since() time.Time {
	if c.Since == nil {
		return never
	}
	return *c.Since
}

// at returns a time for [Cause.Since]: the first of some that is not zero, or nil.
func at(times ...time.Time) *time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return new(t.UTC())
		}
	}
	return nil
}

// key is equal for causes that one deed ends: it is the cause without the names that only one
// custom resource has.
func (c Cause) key() string {
	if c.Look == lookAtMetacontroller {
		return c.Reason
	}
	names := []string{c.Ref.Name}
	for _, link := range c.Holds {
		names = append(names, link.Name)
	}
	names = append(names, c.Ref.Namespace)
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	text := c.Reason + ": " + c.Message
	for _, name := range names {
		if name != "" {
			text = strings.ReplaceAll(text, name, "*")
		}
	}
	return c.Ref.Kind + " " + text
}
