package operator

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// report reports on children, of which some were waited for before.
func report(c *Conditions, diff metacontroller.Difference, old PendingChildren) *Report {
	r := &Report{Conditions: c, differs: diff, old: old}
	r.begin()
	return r
}

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func TestConditionKeepsItsTimeWhileItsStatusStays(t *testing.T) {
	first := NewConditions(nil, 1, noon.Add(300*time.Millisecond))
	first.Set(ConditionReady, metav1.ConditionFalse, "Starting", "one")
	first.Set("Other", metav1.ConditionTrue, "Yes", "gone next time")
	require.Equal(t, noon, first.Find(ConditionReady).LastTransitionTime.Time, "whole seconds")

	second := NewConditions(first.List(), 2, noon.Add(time.Minute))
	second.Set(ConditionReady, metav1.ConditionFalse, "StillStarting", "two")
	require.Equal(t, []metav1.Condition{{
		Type: ConditionReady, Status: metav1.ConditionFalse, Reason: "StillStarting", Message: "two",
		ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(noon),
	}}, second.List())

	third := NewConditions(second.List(), 2, noon.Add(time.Hour))
	third.Set("Alpha", metav1.ConditionTrue, "Yes", "")
	third.Set(ConditionReady, metav1.ConditionFalse, "Replaced", "by the next call")
	third.Set(ConditionReady, metav1.ConditionTrue, "Works", "")
	list := third.List()
	require.Len(t, list, 2)
	require.Equal(t, ConditionReady, list[0].Type, "Ready comes first")
	require.Equal(t, noon.Add(time.Hour), list[0].LastTransitionTime.Time)
}

func TestReportChildren(t *testing.T) {
	absent := func(age time.Duration) []metav1.Condition {
		return []metav1.Condition{{
			Type: ConditionChildrenObserved, Status: metav1.ConditionFalse, Reason: "Requested", Message: "asked for: some", ObservedGeneration: 1,
			LastTransitionTime: metav1.NewTime(noon.Add(-age)),
		}}
	}
	many := []string{"Pod/a", "Pod/b", "Pod/c", "Pod/d", "Pod/e"}
	for name, test := range map[string]struct {
		old     []metav1.Condition
		pending []string
		diff    metacontroller.Difference
		reason  string // of Ready, none when settled
		message string
		resync  time.Duration
	}{
		"all there":       {diff: metacontroller.Difference{}},
		"outdated":        {diff: metacontroller.Difference{Outdated: []string{"Pod/a"}}, reason: ReasonUpdating, message: "not updated yet: Pod/a"},
		"just asked for":  {diff: metacontroller.Difference{Missing: many[:2]}, reason: ReasonCreating, message: "being created: Pod/a, Pod/b", resync: 30 * time.Second},
		"within grace":    {old: absent(20 * time.Second), pending: many[:1], diff: metacontroller.Difference{Missing: many[:1]}, reason: ReasonCreating, message: "being created: Pod/a", resync: 10 * time.Second},
		"blocked":         {old: absent(30 * time.Second), pending: many[:1], diff: metacontroller.Difference{Missing: many[:1], Outdated: many[1:]}, reason: ReasonChildBlocked, message: "Pod/a not created after 30s: the name may be taken, a quota or an admission webhook may refuse it, or a field may be invalid; see the events of this object", resync: 30 * time.Second},
		"another waits":   {old: absent(30 * time.Second), pending: many[:1], diff: metacontroller.Difference{Missing: many[:1], Waiting: []string{"Service/a"}}, reason: ReasonChildBlocked, message: "Pod/a not created after 30s: the name may be taken, a quota or an admission webhook may refuse it, or a field may be invalid; see the events of this object; Service/a of somebody else is not taken over before that", resync: 30 * time.Second},
		"many blocked":    {old: absent(time.Minute), pending: []string{"Pod/0", "Pod/1", "Pod/2", "Pod/3", "Pod/b"}, diff: metacontroller.Difference{Missing: many}, reason: ReasonChildBlocked, message: "Pod/b not created after 30s: the name may be taken, a quota or an admission webhook may refuse it, or a field may be invalid; see the events of this object", resync: time.Minute},
		"others appeared": {old: absent(time.Minute), pending: []string{"Pod/x", "Pod/y"}, diff: metacontroller.Difference{Missing: many[:1]}, reason: ReasonCreating, message: "being created: Pod/a", resync: 30 * time.Second},
		"was there before": {
			old:  []metav1.Condition{{Type: ConditionChildrenObserved, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon.Add(-time.Hour))}},
			diff: metacontroller.Difference{Missing: many[:1]}, reason: ReasonCreating, message: "being created: Pod/a", resync: 30 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := NewConditions(test.old, 1, noon)
			r := report(conditions, test.diff, PendingChildren{MissingChildren: test.pending})
			require.Equal(t, test.reason == "", r.ChildrenUpToDate)
			require.Equal(t, test.resync, r.resyncAfter)
			require.Equal(t, test.diff.Missing, r.pending.MissingChildren)
			require.NotNil(t, conditions.Find(ConditionChildrenObserved))
			if !r.ChildrenUpToDate {
				conditions.SetSummary(r.Summary)
			}
			if ready := conditions.Find(ConditionReady); test.reason == "" {
				require.Nil(t, ready)
			} else {
				require.Equal(t, metav1.ConditionFalse, ready.Status)
				require.Equal(t, test.reason, ready.Reason)
				require.Equal(t, test.message, ready.Message)
			}
		})
	}
}

// TestFutureTimesCountAsNow: a clock that is ahead, or a status that was restored,
// holds up nothing.
func TestFutureTimesCountAsNow(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	old := []metav1.Condition{{
		Type: ConditionChildrenObserved, Status: metav1.ConditionFalse, Reason: "Requested", Message: "asked for: Pod/a",
		LastTransitionTime: metav1.NewTime(now.AddDate(10, 0, 0)),
	}}
	c := NewConditions(old, 1, now)
	r := report(c, metacontroller.Difference{Missing: []string{"Pod/a"}}, PendingChildren{})
	require.Equal(t, ChildGrace, r.resyncAfter)
	require.Equal(t, metav1.NewTime(now), c.Find(ConditionChildrenObserved).LastTransitionTime)
	require.Equal(t, now.AddDate(10, 0, 0), old[0].LastTransitionTime.Time, "what was given is not written")

	c = NewConditions(c.List(), 1, now.Add(ChildGrace))
	c.SetSummary(report(c, metacontroller.Difference{Missing: []string{"Pod/a"}}, r.pending).Summary)
	require.Equal(t, ReasonChildBlocked, c.Find(ConditionReady).Reason)
	require.Equal(t, metav1.ConditionTrue, c.Find(ConditionStalled).Status)
}

// TestConditionWithoutATimeBeginsNow: the API server refuses a whole status for one
// condition that does not tell since when.
func TestConditionWithoutATimeBeginsNow(t *testing.T) {
	now := noon
	old := []metav1.Condition{{Type: ConditionReady, Status: metav1.ConditionTrue}}
	conditions := NewConditions(old, 1, now)
	conditions.Set(ConditionReady, metav1.ConditionTrue, "Ready", "it is")
	require.Equal(t, now, conditions.List()[0].LastTransitionTime.Time)
	require.True(t, old[0].LastTransitionTime.IsZero(), "the parent is not changed")
}

// TestReportChildrenReportsATakenName at once, and counts the time that a child does not
// appear from when it has been asked for.
func TestReportChildrenReportsATakenName(t *testing.T) {
	var pending PendingChildren
	settle := func(old []metav1.Condition, at time.Duration, diff metacontroller.Difference) (*Conditions, time.Duration) {
		c := NewConditions(old, 1, noon.Add(at))
		r := report(c, diff, pending)
		pending = r.pending
		require.False(t, r.ChildrenUpToDate)
		c.SetSummary(r.Summary)
		return c, r.resyncAfter
	}
	taken := metacontroller.Difference{Missing: []string{"Service/a"}, Conflicts: []metacontroller.Conflict{{Ref: "Service/a", By: "Other/b"}}}
	c, resync := settle(nil, 0, taken)
	const message = "Service/a belongs to Other/b, and is not taken over: choose another name, or delete what has it"
	for _, conditionType := range []string{ConditionReady, ConditionStalled} {
		require.Equal(t, ReasonChildBlocked, c.Find(conditionType).Reason)
		require.Equal(t, message, c.Find(conditionType).Message)
	}
	require.Equal(t, metav1.ConditionTrue, c.Find(ConditionStalled).Status)
	require.Equal(t, "not asked for: Service/a", c.Find(ConditionChildrenObserved).Message)
	require.Equal(t, ChildGrace, resync)

	ofServer, _ := settle(nil, 0, metacontroller.Difference{Missing: []string{"Service/kubernetes"}, Conflicts: []metacontroller.Conflict{{Ref: "Service/kubernetes", By: metacontroller.APIServer}}})
	require.Equal(t, "Service/kubernetes belongs to the API server, and is not taken over: choose another name", ofServer.Find(ConditionReady).Message)

	c, _ = settle(c.List(), time.Hour, metacontroller.Difference{Missing: []string{"Service/a"}})
	require.Equal(t, ReasonCreating, c.Find(ConditionReady).Reason, "it is asked for since now")
	require.Nil(t, c.Find(ConditionStalled))
	c, _ = settle(c.List(), time.Hour+ChildGrace, metacontroller.Difference{Missing: []string{"Service/a"}})
	require.Contains(t, c.Find(ConditionReady).Message, "Service/a not created after 30s")

	both := metacontroller.Difference{Missing: []string{"Service/a", "Pod/c"}, Conflicts: taken.Conflicts}
	c, resync = settle(nil, 0, both)
	require.Equal(t, message, c.Find(ConditionReady).Message)
	require.Equal(t, "asked for: Pod/c", c.Find(ConditionChildrenObserved).Message)
	require.Equal(t, ChildGrace, resync)
	c, _ = settle(c.List(), time.Hour, both)
	require.Contains(t, c.Find(ConditionReady).Message, message+"; Pod/c not created after 30s")
}

// TestAFourthBlockedChildDoesNotBeginAnew: three of five that were missing appear, and the
// time of the others goes on. When none of them is missing any more, it begins anew.
func TestAFourthBlockedChildDoesNotBeginAnew(t *testing.T) {
	first := NewConditions(nil, 1, noon)
	before := report(first, metacontroller.Difference{Missing: []string{"Pod/a", "Pod/b", "Pod/c", "Pod/d", "Pod/e"}}, PendingChildren{})
	second := NewConditions(first.List(), 1, noon.Add(ChildGrace))
	late := report(second, metacontroller.Difference{Missing: []string{"Pod/d"}}, before.pending)
	require.Equal(t, ReasonChildBlocked, late.Summary.Reason)
	third := NewConditions(first.List(), 1, noon.Add(ChildGrace))
	other := report(third, metacontroller.Difference{Missing: []string{"Pod/f"}}, before.pending)
	require.Equal(t, ReasonCreating, other.Summary.Reason)
}

func TestPendingChildrenAreBounded(t *testing.T) {
	var many []string
	for n := range 500 {
		many = append(many, fmt.Sprintf("Pod/web-%d", n))
	}
	r := report(NewConditions(nil, 1, noon), metacontroller.Difference{Missing: many, Outdated: many, NotUpdated: many}, PendingChildren{})
	require.Equal(t, PendingChildren{MissingChildren: many[:32], OutdatedChildren: many[:32]}, r.pending)
}
