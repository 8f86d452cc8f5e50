package operator

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Report is what a sync has to say of its children, while the operator adds what it has to
// say itself. [Answer] makes the answer of it.
type Report struct {
	*Conditions
	// ChildrenUpToDate is set when the observed children are the desired ones, so that
	// the operator judges the rest itself.
	ChildrenUpToDate bool
	// Summary is the one to use while ChildrenUpToDate is false.
	Summary Summary

	differs  metacontroller.Difference
	old      PendingChildren
	observed metacontroller.Objects

	pending PendingChildren // for the status, and the next sync
	// resyncAfter is when to check again, or zero: no event arrives for a child that a foreign
	// object, a quota or an admission webhook prevents, or whose update is refused.
	resyncAfter time.Duration
}

// NewReport begins with how the observed children differ from the desired ones, which
// [metacontroller.Observed.Compare] returns. The old status is that of the request. A child
// that is not created or updated within [ChildGrace] needs a person: the work has failed. So
// has, at once, a child that is left out because another controller uses its name.
func NewReport(parent metav1.Object, old Status, request metacontroller.Observed, differs metacontroller.Difference) *Report {
	r := &Report{
		Conditions: NewConditions(old.Conditions, parent.GetGeneration(), request.Now),
		differs:    differs, old: old.PendingChildren, observed: request.Children,
	}
	r.begin()
	return r
}

// begin sets ChildrenObserved and ChildrenUpdated, and judges unless the children are up to date.
func (r *Report) begin() {
	diff, asked := r.differs, asked(r.differs)
	missing := r.wait(ConditionChildrenObserved, asked, r.old.MissingChildren)
	updating := r.wait(ConditionChildrenUpdated, diff.NotUpdated, r.old.OutdatedChildren)
	switch {
	case len(diff.Missing) == 0:
		r.Set(ConditionChildrenObserved, metav1.ConditionTrue, "AllObserved", "every child that is asked for exists")
	case len(asked) == 0:
		r.Set(ConditionChildrenObserved, metav1.ConditionFalse, reasonNameTaken, "not asked for: "+listed(diff.Missing))
		// An event arrives when the name is free, unless it is lost.
		_, missing.retryAfter = attempt(r.now.Sub(r.Find(ConditionChildrenObserved).LastTransitionTime.Time))
	}
	switch {
	case missing.isOver, len(diff.Conflicts) > 0:
		r.Summary = Summary{State: Failed, Reason: ReasonChildBlocked, Message: missingMessage(diff, r.overdue(asked, missing.isOver))}
	case updating.isOver:
		r.Summary = Summary{State: Failed, Reason: ReasonUpdateBlocked, Message: notUpdatedMessage(diff)}
	case len(diff.Missing) > 0:
		r.Summary = Summary{State: Progressing, Reason: ReasonCreating, Message: "being created: " + listed(diff.Missing)}
	case len(diff.Outdated) > 0:
		r.Summary = Summary{State: Progressing, Reason: ReasonUpdating, Message: outdatedMessage(diff)}
	default:
		r.ChildrenUpToDate = true
		return
	}
	r.pending = PendingChildren{MissingChildren: firstOf(asked), OutdatedChildren: firstOf(diff.NotUpdated)}
	r.resyncAfter = Soonest(missing.retryAfter, updating.retryAfter)
}

// overdue returns the children that have been waited for too long: those of the old status, which
// may list only the first.
func (r *Report) overdue(asked []string, isOver bool) []string {
	if !isOver {
		return nil
	}
	old := slices.DeleteFunc(slices.Clone(asked), func(ref string) bool { return !slices.Contains(r.old.MissingChildren, ref) })
	if len(old) == 0 || len(r.old.MissingChildren) >= maxPending {
		return asked
	}
	return old
}

// With returns the summary for the conditions: the operator's own if the children are settled or it
// has failed, otherwise that of the children. What hinders some while others are created or updated is told,
// too: a Deployment that cannot create a ReplicaSet never observes its newest generation.
func (r *Report) With(own Summary) Summary {
	switch {
	case r.ChildrenUpToDate, own.State == Failed && r.Summary.State != Failed,
		own.State == Degraded && r.Summary.State != Failed:
		return own
	}
	return r.Summary
}

func firstOf(children []string) []string {
	return slices.Clone(children[:min(len(children), maxPending)])
}

// waiting is the state of children that are waited for.
type waiting struct {
	isOver     bool          // they have been waited for longer than [ChildGrace]
	retryAfter time.Duration // when to check again, zero for not at all
}

// wait sets a condition that stores since when children have been waited for,
// if there are any. The old ones are those of the last status.
func (c *Conditions) wait(conditionType string, children, old []string) waiting {
	if len(children) == 0 {
		return waiting{}
	}
	since := c.since(conditionType, children, old)
	waited, reason := c.now.Sub(since.Time), "Requested"
	_, next := attempt(waited)
	isOver := waited >= ChildGrace
	if isOver {
		reason = map[string]string{ConditionChildrenObserved: "Absent", ConditionChildrenUpdated: "Outdated"}[conditionType]
	}
	c.set(conditionType, metav1.ConditionFalse, reason, "asked for: "+listed(children), since)
	return waiting{isOver, next}
}

// nextWait is how long after the first children others may be asked for that are waited for
// since then as well: a Role for instance that comes after its ServiceAccount.
const nextWait = 10 * time.Second

// since returns since when children have been waited for. It is the time of the
// old condition, unless none of the old children is still waited for, or the
// spec has changed: then the wait starts now.
func (c *Conditions) since(conditionType string, children, old []string) metav1.Time {
	condition := c.oldWait(conditionType)
	if condition == nil {
		return c.now
	}
	isOfThisSpec := condition.ObservedGeneration == c.generation
	isGoingOn := slices.ContainsFunc(old, func(name string) bool { return slices.Contains(children, name) })
	switch {
	case isOfThisSpec && (isGoingOn || c.now.Sub(condition.LastTransitionTime.Time) < nextWait),
		isGoingOn && conditionType == ConditionChildrenObserved:
		return condition.LastTransitionTime
	}
	return c.now
}

// oldWait returns an old condition if it says that children are waited for, or nil.
func (c *Conditions) oldWait(conditionType string) *metav1.Condition {
	condition := meta.FindStatusCondition(c.old, conditionType)
	if condition == nil || condition.Status != metav1.ConditionFalse || condition.Reason == reasonNameTaken {
		return nil
	}
	return condition
}
