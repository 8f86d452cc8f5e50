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
	// ConditionReady is True when everything that the newest spec asks for
	// exists and works.
	ConditionReady = "Ready"
	// ConditionStalled is True when the work has failed for good, and absent
	// otherwise. Tools that follow kstatus then report the object as failed
	// instead of waiting.
	ConditionStalled = "Stalled"
	// ConditionChildrenObserved is True when every desired child exists. Its
	// lastTransitionTime stores since when one has been missing.
	ConditionChildrenObserved = "ChildrenObserved"
	// ConditionChildrenUpdated is False while a child has not been updated to
	// its desired form, and absent otherwise. Its lastTransitionTime stores
	// since when.
	ConditionChildrenUpdated = "ChildrenUpdated"
)

// Reasons of Ready=False that every kind uses.
const (
	// ReasonCreating means that children have just been asked for.
	ReasonCreating = "Creating"
	// ReasonUpdating means that children are not yet what the newest spec asks for.
	ReasonUpdating = "Updating"
	// ReasonChildBlocked means that a child has been asked for and was not created within
	// [ChildGrace], or another controller uses its name.
	ReasonChildBlocked = "ChildBlocked"
	// ReasonUpdateBlocked means that a child has been changed in the answer and was not
	// updated within [ChildGrace].
	ReasonUpdateBlocked = "UpdateBlocked"
)

// reasonNameTaken is the reason of ChildrenObserved when all missing children
// are left out of the answer.
const reasonNameTaken = "NameTaken"

// ChildGrace is how long a child may be missing or outdated before it is
// reported as blocked: Metacontroller's cache lags behind its own writes, so a
// child that was just created may not be observed yet.
const ChildGrace = 30 * time.Second

// Conditions builds the conditions of a parent's status. A condition whose
// status does not change keeps its lastTransitionTime, which is stored only in
// the parent's old status.
type Conditions struct {
	old        []metav1.Condition
	now        metav1.Time
	generation int64
	list       []metav1.Condition
	state      State
	isRepaired bool // some of the old ones had times that the API server or timeouts would not take
}

// NewConditions starts from the old conditions, which are those of the status
// in the request, and the generation of the parent's metadata. A
// lastTransitionTime in the future counts as now: it was written by another
// clock, and timeouts would not end until then. So does one that is missing or
// zero, which the API server would refuse.
func NewConditions(old []metav1.Condition, generation int64, now time.Time) *Conditions {
	c := &Conditions{old: old, generation: generation, now: metav1.NewTime(now.UTC().Truncate(time.Second))}
	for i := range old {
		if at := old[i].LastTransitionTime; !at.IsZero() && !at.After(c.now.Time) {
			continue
		}
		if !c.isRepaired {
			c.old, c.isRepaired = slices.Clone(old), true
		}
		c.old[i].LastTransitionTime = c.now
	}
	return c
}

// Set sets a condition. A later call for the same type replaces the earlier
// one. The message must be the same for the same state: no running times, no
// random order.
func (c *Conditions) Set(conditionType string, status metav1.ConditionStatus, reason, message string) {
	since := c.now
	if old := meta.FindStatusCondition(c.old, conditionType); old != nil && old.Status == status {
		since = old.LastTransitionTime
	}
	c.set(conditionType, status, reason, message, since)
}

// mostMessage is the size in bytes from which on a message is cut at once. It may have
// the text of a container, and several copies of it are made before an answer is sent.
const mostMessage = 32 << 10

func (c *Conditions) set(conditionType string, status metav1.ConditionStatus, reason, message string, since metav1.Time) {
	reason = strings.ToValidUTF8(reason[:min(len(reason), mostMessage)], "")
	message = strings.ToValidUTF8(message[:min(len(message), mostMessage)], "")
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

// nextWait is how long after the first children others may be asked for that are waited for
// since then as well: a Role for instance that comes after its ServiceAccount.
const nextWait = 10 * time.Second

// PendingChildren is the part of a status that lists the children that are
// waited for. People read it, and so does the next sync; since when they are
// waited for is in the conditions.
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

// maxPending is the length of each list in a [PendingChildren]. The first of
// more children are the next to appear.
const maxPending = 32

// ChildrenReport is the result of [Conditions.ReportChildren].
type ChildrenReport struct {
	// ChildrenUpToDate is set when the observed children are the desired ones, so that
	// the operator judges the rest itself.
	ChildrenUpToDate bool
	// Summary is the one to use while ChildrenUpToDate is false.
	Summary Summary
	// Pending goes into the status, and comes back in the next sync.
	Pending PendingChildren
	// ResyncAfter is when to check again, or zero: no event arrives for a child
	// that a foreign object, a quota or an admission webhook prevents, or whose
	// update is refused.
	ResyncAfter time.Duration
}

// With returns the summary for the conditions: the operator's own if the
// children are settled or it has failed, otherwise that of the children. What
// hinders children that are being updated is told, too: a Deployment that cannot
// create a ReplicaSet never observes its newest generation.
func (r ChildrenReport) With(own Summary) Summary {
	switch {
	case r.ChildrenUpToDate, own.State == Failed && r.Summary.State != Failed,
		own.State == Degraded && r.Summary.Reason == ReasonUpdating:
		return own
	}
	return r.Summary
}

// ReportChildren sets ChildrenObserved and ChildrenUpdated and, unless the
// observed children are the desired ones, judges with one of the reasons above.
// A child that is not created or updated within [ChildGrace] needs a person:
// the work has failed. So has, at once, a child that is left out because
// another controller uses its name. The pending children are those of the old
// status.
func (c *Conditions) ReportChildren(diff metacontroller.Difference, pending PendingChildren) ChildrenReport {
	asked := asked(diff)
	missing := c.wait(ConditionChildrenObserved, asked, pending.MissingChildren)
	updating := c.wait(ConditionChildrenUpdated, diff.NotUpdated, pending.OutdatedChildren)
	switch {
	case len(diff.Missing) == 0:
		c.Set(ConditionChildrenObserved, metav1.ConditionTrue, "AllObserved", "every child that is asked for exists")
	case len(asked) == 0:
		c.Set(ConditionChildrenObserved, metav1.ConditionFalse, reasonNameTaken, "not asked for: "+listed(diff.Missing))
		// An event arrives when the name is free, unless it is lost.
		_, missing.retryAfter = attempt(c.now.Sub(c.Find(ConditionChildrenObserved).LastTransitionTime.Time))
	}
	var summary Summary
	switch {
	case missing.isOver, len(diff.Conflicts) > 0:
		summary = Summary{Failed, ReasonChildBlocked, missingMessage(diff, missing.isOver)}
	case updating.isOver:
		summary = Summary{Failed, ReasonUpdateBlocked, notUpdatedMessage(diff)}
	case len(diff.Missing) > 0:
		summary = Summary{Progressing, ReasonCreating, "being created: " + listed(diff.Missing)}
	case len(diff.Outdated) > 0:
		summary = Summary{Progressing, ReasonUpdating, outdatedMessage(diff)}
	default:
		return ChildrenReport{ChildrenUpToDate: true}
	}
	return ChildrenReport{
		Summary:     summary,
		Pending:     PendingChildren{MissingChildren: firstOf(asked), OutdatedChildren: firstOf(diff.NotUpdated)},
		ResyncAfter: Soonest(missing.retryAfter, updating.retryAfter),
	}
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
	left := ChildGrace - c.now.Sub(since.Time)
	if left > 0 {
		c.set(conditionType, metav1.ConditionFalse, "Requested", "asked for: "+listed(children), since)
		return waiting{retryAfter: left}
	}
	reason := map[string]string{ConditionChildrenObserved: "Absent", ConditionChildrenUpdated: "Outdated"}[conditionType]
	c.set(conditionType, metav1.ConditionFalse, reason, "asked for: "+listed(children), since)
	_, next := attempt(c.now.Sub(since.Time))
	return waiting{isOver: true, retryAfter: next}
}

// maxRetryAfter is the longest time between two attempts for a blocked child.
const maxRetryAfter = 10 * time.Minute

// since returns since when children have been waited for. It is the time of the
// old condition, unless none of the old children is still waited for, or the
// spec has changed: then the wait starts now.
func (c *Conditions) since(conditionType string, children, old []string) metav1.Time {
	condition := c.oldWait(conditionType)
	if condition == nil || conditionType == ConditionChildrenUpdated && condition.ObservedGeneration != c.generation {
		return c.now
	}
	if condition.ObservedGeneration == c.generation && c.now.Sub(condition.LastTransitionTime.Time) < nextWait {
		return condition.LastTransitionTime
	}
	isWaitedFor := func(name string) bool { return slices.Contains(children, name) }
	switch {
	case slices.ContainsFunc(old, isWaitedFor):
	case len(old) > 0, condition.ObservedGeneration != c.generation: // some kinds do not store the list
		return c.now
	}
	return condition.LastTransitionTime
}

// oldWait returns an old condition if it says that children are waited for, or nil.
func (c *Conditions) oldWait(conditionType string) *metav1.Condition {
	condition := meta.FindStatusCondition(c.old, conditionType)
	if condition == nil || condition.Status != metav1.ConditionFalse || condition.Reason == reasonNameTaken {
		return nil
	}
	return condition
}

// MissingSince returns since when a desired child has been missing, according
// to the old conditions of the parent, and whether one is.
func MissingSince(old []metav1.Condition) (since time.Time, isMissing bool) {
	observed := meta.FindStatusCondition(old, ConditionChildrenObserved)
	if observed == nil || observed.Status != metav1.ConditionFalse {
		return time.Time{}, false
	}
	return observed.LastTransitionTime.Time, true
}

// Soonest returns the shortest of some durations for
// [metacontroller.Result.ResyncAfter], ignoring zero and negative ones.
func Soonest(durations ...time.Duration) time.Duration {
	var least time.Duration
	for _, d := range durations {
		if d > 0 && (least == 0 || d < least) {
			least = d
		}
	}
	return least
}
