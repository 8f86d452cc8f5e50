package metacontroller

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
)

// Reasons of Ready=False that hold for every kind.
const (
	// ReasonCreating says that children have just been asked for.
	ReasonCreating = "Creating"
	// ReasonUpdating says that children are not yet what the newest spec asks
	// for.
	ReasonUpdating = "Updating"
	// ReasonChildBlocked says that a child has been asked for and has not
	// appeared within [ChildGrace].
	ReasonChildBlocked = "ChildBlocked"
)

// ChildGrace is how long a child may be missing before it is called blocked:
// Metacontroller's cache lags behind its own writes, and a lag is no absence.
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
// the status that the hook is sent, its generation is that of its metadata.
func NewConditions(old []metav1.Condition, generation int64, now time.Time) *Conditions {
	return &Conditions{old: old, generation: generation, now: metav1.NewTime(now.UTC().Truncate(time.Second))}
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

// Settle sets ChildrenObserved and, unless what is observed is what is asked
// for, Ready=False with one of the reasons above. It reports whether all is
// settled, so that the rest of Ready is the operator's to judge, and after what
// time to look again (zero for not at all): a child that a foreign object, a
// quota or an admission webhook keeps away gives no sign of it.
func (c *Conditions) Settle(diff Difference) (settled bool, resync time.Duration) {
	if len(diff.Missing) == 0 {
		c.Set(ConditionChildrenObserved, metav1.ConditionTrue, "AllObserved", "every child that is asked for exists")
		if len(diff.Outdated) == 0 {
			return true, 0
		}
		c.Set(ConditionReady, metav1.ConditionFalse, ReasonUpdating,
			"not yet as the newest spec asks for: "+listed(diff.Outdated))
		return false, 0
	}
	since := c.absentSince(diff.Missing)
	left := ChildGrace - c.now.Sub(since.Time)
	reason, message := "Asked", "asked for: "+listed(diff.Missing)
	if left <= 0 {
		reason = "Absent"
	}
	c.set(ConditionChildrenObserved, metav1.ConditionFalse, reason, message, since)
	if left > 0 {
		c.Set(ConditionReady, metav1.ConditionFalse, ReasonCreating, "being created: "+listed(diff.Missing))
		return false, left
	}
	c.Set(ConditionReady, metav1.ConditionFalse, ReasonChildBlocked, listed(diff.Missing)+
		" does not appear: an object of that name that belongs to someone else may be in the way, "+
		"or a quota or an admission webhook refuses it")
	return false, ChildGrace
}

// absentSince returns since when a child has been missing. The old condition
// tells, unless all the children that it names have appeared since: then the
// ones that are missing now have only just been asked for.
func (c *Conditions) absentSince(missing []string) metav1.Time {
	old := meta.FindStatusCondition(c.old, ConditionChildrenObserved)
	if old == nil || old.Status != metav1.ConditionFalse {
		return c.now
	}
	_, names, _ := strings.Cut(old.Message, ": ")
	names, _, _ = strings.Cut(names, " and ")
	for _, name := range strings.Split(names, ", ") {
		for _, ref := range missing {
			if ref == name {
				return old.LastTransitionTime
			}
		}
	}
	return c.now
}
