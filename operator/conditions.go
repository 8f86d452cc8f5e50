package operator

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Types of conditions that every operator uses.
const (
	// ConditionReady is True when what the newest spec asks for is there and
	// works.
	ConditionReady = "Ready"
	// ConditionStalled is True, and absent otherwise, when work has failed for
	// good. Tools that follow kstatus call the object failed then, and would
	// wait for ever without it.
	ConditionStalled = "Stalled"
	// ConditionChildrenObserved is True when every child that is asked for
	// exists. Its lastTransitionTime remembers since when one has been missing.
	ConditionChildrenObserved = "ChildrenObserved"
	// ConditionChildrenUpdated is False, and absent otherwise, while a child has
	// not become what it has been asked to be. Its lastTransitionTime remembers
	// since when.
	ConditionChildrenUpdated = "ChildrenUpdated"
)

// Reasons of Ready=False that hold for every kind.
const (
	// ReasonCreating says that children have just been asked for.
	ReasonCreating = "Creating"
	// ReasonUpdating says that children are not yet what the newest spec asks
	// for.
	ReasonUpdating = "Updating"
	// ReasonChildBlocked says that a child has been asked for and has not
	// appeared within [ChildGrace], or that another controller has its name.
	ReasonChildBlocked = "ChildBlocked"
	// ReasonUpdateBlocked says that a child has been asked to change and has not
	// changed within [ChildGrace].
	ReasonUpdateBlocked = "UpdateBlocked"
)

// reasonNameTaken says in ChildrenObserved that nothing is asked for that is
// missing.
const reasonNameTaken = "NameTaken"

// ChildGrace is how long a child may be missing, or not be what is asked for,
// before it is called blocked: Metacontroller's cache lags behind its own writes,
// so that a child that has just been made may not be observed yet.
const ChildGrace = 30 * time.Second

// Conditions builds the conditions of a parent's status. A condition whose
// status does not change keeps its lastTransitionTime, which is remembered in
// the parent's old status and nowhere else.
type Conditions struct {
	old        []metav1.Condition
	now        metav1.Time
	generation int64
	list       []metav1.Condition
}

// NewConditions begins the conditions of a parent: its old ones are those in
// the status that the hook is sent, its generation is that of its metadata. A time
// in them that is yet to come counts as now: whoever wrote it had another clock, and
// what is counted from it would wait until then. So does one that is missing or
// zero, with which no API server would store the status.
func NewConditions(old []metav1.Condition, generation int64, now time.Time) *Conditions {
	c := &Conditions{old: old, generation: generation, now: metav1.NewTime(now.UTC().Truncate(time.Second))}
	for i := range old {
		if at := old[i].LastTransitionTime; !at.IsZero() && !at.After(c.now.Time) {
			continue
		}
		if &c.old[0] == &old[0] {
			c.old = slices.Clone(old)
		}
		c.old[i].LastTransitionTime = c.now
	}
	return c
}

// Set sets a condition. A later call for the same type replaces the earlier.
// The message must say the same for the same state: no running times, no
// random order.
func (c *Conditions) Set(conditionType string, status metav1.ConditionStatus, reason, message string) {
	since := c.now
	if old := meta.FindStatusCondition(c.old, conditionType); old != nil && old.Status == status {
		since = old.LastTransitionTime
	}
	c.set(conditionType, status, reason, message, since)
}

func (c *Conditions) set(conditionType string, status metav1.ConditionStatus, reason, message string, since metav1.Time) {
	meta.RemoveStatusCondition(&c.list, conditionType)
	c.list = append(c.list, metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message,
		LastTransitionTime: since, ObservedGeneration: c.generation,
	})
}

// Find returns a condition that has been set, or nil.
func (c *Conditions) Find(conditionType string) *metav1.Condition {
	return meta.FindStatusCondition(c.list, conditionType)
}

// List returns the conditions, Ready first and the others by type.
func (c *Conditions) List() []metav1.Condition {
	slices.SortFunc(c.list, func(a, b metav1.Condition) int {
		if isReady := a.Type == ConditionReady; isReady != (b.Type == ConditionReady) {
			if isReady {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Type, b.Type)
	})
	return c.list
}

// PendingChildren is the part of a status that says which children are waited for. It is
// for people to read and for the next sync to remember: since when they are waited for
// stands in the conditions.
type PendingChildren struct {
	// MissingChildren are those that have been asked for and are not there, the first 32.
	// +optional
	// +listType=atomic
	MissingChildren []string `json:"missingChildren,omitempty"`
	// OutdatedChildren are those that have been asked to change and have not, the first 32.
	// +optional
	// +listType=atomic
	OutdatedChildren []string `json:"outdatedChildren,omitempty"`
}

// maxPending is how many children a [PendingChildren] has of each sort. Of more than
// that, the first are the next that come.
const maxPending = 32

// ChildrenReport is what [Conditions.ReportChildren] found.
type ChildrenReport struct {
	// Settled is set when what is observed is what is asked for, so that the rest is the
	// operator's to judge.
	Settled bool
	// Judgement is for where it is not settled.
	Judgement Judgement
	// Pending is for the status, to be handed in by the next sync.
	Pending PendingChildren
	// ResyncAfter is after what time to look again, zero for not at all: a child that a
	// foreign object, a quota or an admission webhook keeps away gives no sign of it,
	// nor does one whose update is refused.
	ResyncAfter time.Duration
}

// With returns what the conditions are to say: the operator's own judgement where the
// children are settled or it has failed, and otherwise that of the children.
func (r ChildrenReport) With(own Judgement) Judgement {
	if r.Settled || own.State == Failed && r.Judgement.State != Failed {
		return own
	}
	return r.Judgement
}

// ReportChildren sets ChildrenObserved and ChildrenUpdated and, unless what is observed is
// what is asked for, judges that with one of the reasons above. A child that does not
// come, or does not change, within [ChildGrace] is a person's to mend: that has failed.
// So has, at once, one that is not asked for because another controller has its name.
// The pending children are those of the old status.
func (c *Conditions) ReportChildren(diff metacontroller.Difference, pending PendingChildren) ChildrenReport {
	asked := asked(diff)
	missing := c.wait(ConditionChildrenObserved, asked, pending.MissingChildren)
	updating := c.wait(ConditionChildrenUpdated, diff.NotUpdated, pending.OutdatedChildren)
	switch {
	case len(diff.Missing) == 0:
		c.Set(ConditionChildrenObserved, metav1.ConditionTrue, "AllObserved", "every child that is asked for exists")
	case len(asked) == 0:
		c.Set(ConditionChildrenObserved, metav1.ConditionFalse, reasonNameTaken, "not asked for: "+listed(diff.Missing))
		// Its event comes when the name is free, unless that is lost.
		missing.again = lookAgain(c.now.Sub(c.Find(ConditionChildrenObserved).LastTransitionTime.Time))
	}
	var judgement Judgement
	switch {
	case missing.isOver, len(diff.Taken) > 0:
		judgement = Judgement{Failed, ReasonChildBlocked, blocked(diff, missing.isOver)}
	case updating.isOver:
		judgement = Judgement{Failed, ReasonUpdateBlocked, refused(diff)}
	case len(diff.Missing) > 0:
		judgement = Judgement{Working, ReasonCreating, "being created: " + listed(diff.Missing)}
	case len(diff.Outdated) > 0:
		judgement = Judgement{Working, ReasonUpdating, "not updated yet: " + listed(diff.Outdated)}
	default:
		return ChildrenReport{Settled: true}
	}
	return ChildrenReport{
		Judgement:   judgement,
		Pending:     PendingChildren{MissingChildren: firstOf(asked), OutdatedChildren: firstOf(diff.NotUpdated)},
		ResyncAfter: Soonest(missing.again, updating.again),
	}
}

func firstOf(children []string) []string {
	return slices.Clone(children[:min(len(children), maxPending)])
}

// waiting tells how it is about children that something is waited for.
type waiting struct {
	isOver bool          // they have been waited for as long as [ChildGrace]
	again  time.Duration // when to look again, zero for not at all
}

// wait sets a condition that remembers since when children have been waited for,
// if there are any. The old ones are those that were waited for before.
func (c *Conditions) wait(conditionType string, children, old []string) waiting {
	if len(children) == 0 {
		return waiting{}
	}
	since := c.since(conditionType, children, old)
	left := ChildGrace - c.now.Sub(since.Time)
	if left > 0 {
		c.set(conditionType, metav1.ConditionFalse, "Asked", "asked for: "+listed(children), since)
		return waiting{again: left}
	}
	reason := map[string]string{ConditionChildrenObserved: "Absent", ConditionChildrenUpdated: "Outdated"}[conditionType]
	c.set(conditionType, metav1.ConditionFalse, reason, "asked for: "+listed(children), since)
	return waiting{isOver: true, again: lookAgain(c.now.Sub(since.Time))}
}

// maxLookAgain is how rarely a child is asked for at least that is blocked.
const maxLookAgain = 10 * time.Minute

// lookAgain returns when to look again at what has been blocked for some time: each
// time after twice as long, as a ReplicaSet's controller does. A hook that looks
// asks for the child again, and the API calls that are refused then come out of
// those that Metacontroller has for all custom resources together.
func lookAgain(blocked time.Duration) time.Duration {
	return min(max(ChildGrace, blocked), maxLookAgain)
}

// since returns since when children have been waited for. The old condition
// tells, unless none of the old children is among them any more: then the ones of now
// have only just been asked for. So has a change by a newer spec.
func (c *Conditions) since(conditionType string, children, old []string) metav1.Time {
	condition := meta.FindStatusCondition(c.old, conditionType)
	if condition == nil || condition.Status != metav1.ConditionFalse || condition.Reason == reasonNameTaken ||
		conditionType == ConditionChildrenUpdated && condition.ObservedGeneration != c.generation {
		return c.now
	}
	isWaitedFor := func(name string) bool { return slices.Contains(children, name) }
	switch {
	case slices.ContainsFunc(old, isWaitedFor):
	case len(old) > 0, condition.ObservedGeneration != c.generation: // a kind may not keep which they were
		return c.now
	}
	return condition.LastTransitionTime
}

// MissingSince returns since when a child that is asked for has been missing, as the old
// conditions of the parent tell, and whether one is.
func MissingSince(old []metav1.Condition) (since time.Time, isMissing bool) {
	observed := meta.FindStatusCondition(old, ConditionChildrenObserved)
	if observed == nil || observed.Status != metav1.ConditionFalse {
		return time.Time{}, false
	}
	return observed.LastTransitionTime.Time, true
}

// Soonest returns the shortest of some times after which to look again, as
// [metacontroller.Result.ResyncAfter] has them: zero, and what is past, is none.
func Soonest(durations ...time.Duration) time.Duration {
	var least time.Duration
	for _, d := range durations {
		if d > 0 && (least == 0 || d < least) {
			least = d
		}
	}
	return least
}
