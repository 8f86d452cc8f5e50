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

// Settle sets ChildrenObserved and ChildrenUpdated and, unless what is observed is
// what is asked for, Ready=False with one of the reasons above. It reports whether
// all is settled, so that the rest of Ready is the operator's to judge, and after
// what time to look again (zero for not at all): a child that a foreign object, a
// quota or an admission webhook keeps away gives no sign of it, nor does one whose
// update is refused. Either is a person's to mend, and sets Stalled. So does a child
// that is not asked for because another controller has its name, and at once.
func (c *Conditions) Settle(diff metacontroller.Difference) (settled bool, resync time.Duration) {
	asked := asked(diff)
	missing, updating := c.wait(ConditionChildrenObserved, asked), c.wait(ConditionChildrenUpdated, diff.NotUpdated)
	switch {
	case len(diff.Missing) == 0:
		c.Set(ConditionChildrenObserved, metav1.ConditionTrue, "AllObserved", "every child that is asked for exists")
	case len(asked) == 0:
		c.Set(ConditionChildrenObserved, metav1.ConditionFalse, reasonNameTaken, "not asked for: "+listed(diff.Missing))
		// Its event comes when the name is free, unless that is lost.
		missing.again = lookAgain(c.now.Sub(c.Find(ConditionChildrenObserved).LastTransitionTime.Time))
	}
	switch {
	case missing.isOver, len(diff.Taken) > 0:
		message := blocked(diff, missing.isOver)
		c.Set(ConditionReady, metav1.ConditionFalse, ReasonChildBlocked, message)
		c.Set(ConditionStalled, metav1.ConditionTrue, ReasonChildBlocked, message)
	case updating.isOver:
		message := listed(diff.NotUpdated) + " is still not as the newest spec asks for: the API server may be refusing the update " +
			"for a node port that is taken, a field that cannot change, a quota or an admission webhook; " + events(diff)
		c.Set(ConditionReady, metav1.ConditionFalse, ReasonUpdateBlocked, message)
		c.Set(ConditionStalled, metav1.ConditionTrue, ReasonUpdateBlocked, message)
	case len(diff.Missing) > 0:
		c.Set(ConditionReady, metav1.ConditionFalse, ReasonCreating, "being created: "+listed(diff.Missing))
	case len(diff.Outdated) > 0:
		c.Set(ConditionReady, metav1.ConditionFalse, ReasonUpdating, "not yet as the newest spec asks for: "+listed(diff.Outdated))
	default:
		return true, 0
	}
	return false, Soonest(missing.again, updating.again)
}

// waiting tells how it is about children that something is waited for.
type waiting struct {
	isOver bool          // they have been waited for as long as [ChildGrace]
	again  time.Duration // when to look again, zero for not at all
}

// wait sets a condition that remembers since when children have been waited for,
// if there are any.
func (c *Conditions) wait(conditionType string, children []string) waiting {
	if len(children) == 0 {
		return waiting{}
	}
	since := c.since(conditionType, children)
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
// tells, unless there is nothing left of all that it names: then the ones of now
// have only just been asked for. So has a change by a newer spec.
func (c *Conditions) since(conditionType string, children []string) metav1.Time {
	old := meta.FindStatusCondition(c.old, conditionType)
	if old == nil || old.Status != metav1.ConditionFalse || old.Reason == reasonNameTaken ||
		conditionType == ConditionChildrenUpdated && old.ObservedGeneration != c.generation {
		return c.now
	}
	_, names, _ := strings.Cut(old.Message, ": ")
	names, _, _ = strings.Cut(names, " and ")
	for _, name := range strings.Split(names, ", ") {
		if slices.Contains(children, name) {
			return old.LastTransitionTime
		}
	}
	return c.now
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
