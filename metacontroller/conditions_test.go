package metacontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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

func TestSettle(t *testing.T) {
	absent := func(message string, age time.Duration) []metav1.Condition {
		return []metav1.Condition{{
			Type: ConditionChildrenObserved, Status: metav1.ConditionFalse, Reason: "Asked", Message: message,
			LastTransitionTime: metav1.NewTime(noon.Add(-age)),
		}}
	}
	many := []string{"Pod/a", "Pod/b", "Pod/c", "Pod/d", "Pod/e"}
	for name, test := range map[string]struct {
		old     []metav1.Condition
		diff    Difference
		reason  string // of Ready, none when settled
		message string
		resync  time.Duration
	}{
		"all there":       {diff: Difference{}},
		"outdated":        {diff: Difference{Outdated: []string{"Pod/a"}}, reason: ReasonUpdating, message: "not yet as the newest spec asks for: Pod/a"},
		"just asked for":  {diff: Difference{Missing: many[:2]}, reason: ReasonCreating, message: "being created: Pod/a, Pod/b", resync: 30 * time.Second},
		"within grace":    {old: absent("asked for: Pod/a", 20*time.Second), diff: Difference{Missing: many[:1]}, reason: ReasonCreating, message: "being created: Pod/a", resync: 10 * time.Second},
		"blocked":         {old: absent("asked for: Pod/a", 30*time.Second), diff: Difference{Missing: many[:1], Outdated: many[1:]}, reason: ReasonChildBlocked, message: "Pod/a does not appear: an object of that name that belongs to someone else may be in the way, or a quota or an admission webhook refuses it", resync: 30 * time.Second},
		"many blocked":    {old: absent("asked for: Pod/0, Pod/1, Pod/b and 2 more", time.Minute), diff: Difference{Missing: many}, reason: ReasonChildBlocked, message: "Pod/a, Pod/b, Pod/c and 2 more does not appear: an object of that name that belongs to someone else may be in the way, or a quota or an admission webhook refuses it", resync: 30 * time.Second},
		"others appeared": {old: absent("asked for: Pod/x, Pod/y", time.Minute), diff: Difference{Missing: many[:1]}, reason: ReasonCreating, message: "being created: Pod/a", resync: 30 * time.Second},
		"was there before": {
			old:  []metav1.Condition{{Type: ConditionChildrenObserved, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon.Add(-time.Hour))}},
			diff: Difference{Missing: many[:1]}, reason: ReasonCreating, message: "being created: Pod/a", resync: 30 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := NewConditions(test.old, 1, noon)
			settled, resync := conditions.Settle(test.diff)
			require.Equal(t, test.reason == "", settled)
			require.Equal(t, test.resync, resync)
			require.NotNil(t, conditions.Find(ConditionChildrenObserved))
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
