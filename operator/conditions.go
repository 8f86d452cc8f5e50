package operator

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Types of conditions that every operator uses.
const (
	// ConditionReady is True when everything that the newest spec asks for
	// exists and works.
	ConditionReady = "Ready"
	// ConditionDegraded is True while something does not heal by itself, or may need a person.
	ConditionDegraded = "Degraded"
	// ConditionStalled is True when the work has failed for good, and absent otherwise. Tools that
	// follow kstatus then report the object as failed instead of waiting.
	ConditionStalled = "Stalled"
	// ConditionChildrenObserved is True when every desired child exists. Its
	// lastTransitionTime stores since when one has been missing.
	ConditionChildrenObserved = "ChildrenObserved"
	// ConditionChildrenUpdated is False while a child has not been updated to its desired form, and
	// absent otherwise. Its lastTransitionTime stores since when.
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

// ChildGrace is how long a child may be missing or outdated before it is reported as blocked: caches
// lag behind, so that one that was just created may not be observed yet.
const ChildGrace = 30 * time.Second

// Conditions builds the conditions of a parent's status. A condition whose status does not change
// keeps its lastTransitionTime, which is stored only in the parent's old status.
type Conditions struct {
	old        []metav1.Condition
	now        metav1.Time
	generation int64
	list       []metav1.Condition
	state      State
	again      time.Duration // when to look again, for the summary
	isRepaired bool          // some of the old ones had times that the API server or timeouts would not take
}

// NewConditions starts from the old conditions, those of the status in the request, and the
// generation of the parent's metadata. A lastTransitionTime in the future counts as now, for
// timeouts would not end until then, and so does none, which the API server would refuse.
func NewConditions(old []metav1.Condition, generation int64, now time.Time) *Conditions {
	c := &Conditions{old: slices.Clone(old), generation: generation, now: metav1.NewTime(now.UTC().Truncate(time.Second))}
	c.list = make([]metav1.Condition, 0, len(old)+2)
	for i := range c.old {
		if at := c.old[i].LastTransitionTime; at.IsZero() || at.After(c.now.Time) {
			c.old[i].LastTransitionTime, c.isRepaired = c.now, true
		}
	}
	return c
}

// Set sets a condition. A later call for the same type replaces the earlier one. The message must
// be the same for the same state: no running times, no random order.
func (c *Conditions) Set(conditionType string, status metav1.ConditionStatus, reason, message string) {
	since := c.now
	if old := meta.FindStatusCondition(c.old, conditionType); old != nil && old.Status == status {
		since = old.LastTransitionTime
	}
	c.set(conditionType, status, reason, message, since)
}

func (c *Conditions) set(conditionType string, status metav1.ConditionStatus, reason, message string, since metav1.Time) {
	condition := metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message,
		LastTransitionTime: since, ObservedGeneration: c.generation,
	}
	if known := c.Find(conditionType); known != nil {
		*known = condition
		return
	}
	c.list = append(c.list, condition)
}

// Find returns a condition that has been set, or nil.
func (c *Conditions) Find(conditionType string) *metav1.Condition {
	return meta.FindStatusCondition(c.list, conditionType)
}

// List returns the conditions, Ready first and the others by type.
func (c *Conditions) List() []metav1.Condition {
	key := func(c metav1.Condition) string {
		if c.Type == ConditionReady {
			return ""
		}
		return c.Type
	}
	slices.SortFunc(c.list, func(a, b metav1.Condition) int { return strings.Compare(key(a), key(b)) })
	return c.list
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
