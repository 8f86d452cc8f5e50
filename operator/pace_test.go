package operator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

type paced struct {
	Status

	ReadyReplicas int
	IsOther       bool
}

func (p paced) IsProgressOf(paced) bool { return !p.IsOther }

// TestPace: how far work is that goes on is written every twenty seconds, all else at once.
func TestPace(t *testing.T) {
	missing := metacontroller.Difference{Missing: []string{"Deployment/web"}}
	begun := func(at time.Duration) []metav1.Condition { // conditions of a rollout in which the Deployment is asked for
		c := NewConditions(nil, 1, noon.Add(at))
		c.SetSummary(report(c, missing, PendingChildren{}).Summary, ConditionDegraded)
		return c.List()
	}
	settled := func() []metav1.Condition {
		c := NewConditions(begun(0), 1, noon)
		c.SetSummary(report(c, metacontroller.Difference{}, PendingChildren{}).With(Summary{}), ConditionDegraded)
		return c.List()
	}
	working := Summary{State: Progressing, Reason: ReasonRollingOut, Message: "1 of 3 replicas are available"}
	for name, test := range map[string]struct {
		old        []metav1.Condition
		generation int64
		now        time.Duration
		diff       metacontroller.Difference
		own        Summary
		isOther    bool          // in more than progress
		ready      int           // of the new status; the old one has none
		last       time.Duration // when the old one last told progress, zero for never
		left       time.Duration
	}{
		"the first":                            {generation: 1, own: working, ready: 1},
		"begun":                                {old: begun(0), generation: 1, own: working, ready: 1, left: 20 * time.Second},
		"later":                                {old: begun(0), generation: 1, now: 19 * time.Second, own: working, ready: 1, left: time.Second},
		"nothing moves":                        {old: begun(0), generation: 1, now: 19 * time.Second, own: working},
		"after twenty seconds":                 {old: begun(0), generation: 1, now: 20 * time.Second, own: working, ready: 1},
		"three seconds late":                   {old: settled(), generation: 1, now: 23 * time.Second, own: working, ready: 1},
		"soon after it was told":               {old: settled(), generation: 1, now: 42 * time.Second, last: 23 * time.Second, own: working, ready: 1, left: time.Second},
		"later than it was told":               {old: settled(), generation: 1, now: 47 * time.Second, last: 23 * time.Second, own: working, ready: 1},
		"nothing moves since":                  {old: settled(), generation: 1, now: 47 * time.Second, last: 23 * time.Second, own: working},
		"told in the future":                   {old: settled(), generation: 1, now: 30 * time.Second, last: time.Hour, own: working, ready: 1},
		"children that have appeared are told": {old: begun(0), generation: 1, now: 21 * time.Second, own: working, ready: 1},
		"after an hour":                        {old: begun(0), generation: 1, now: time.Hour, own: working, ready: 1},
		"the end":                              {old: begun(0), generation: 1, own: Summary{State: Done, Reason: ReasonAvailable, Message: "3 of 3"}, ready: 1},
		"a failure":                            {old: begun(0), generation: 1, own: Summary{State: Failed, Reason: ReasonDeadlineExceeded, Message: "timed out"}, ready: 1},
		"a hindrance":                          {old: begun(0), generation: 1, own: Summary{State: Degraded, Reason: ReasonReplicaFailure, Message: "quota"}, ready: 1},
		"a newer spec":                         {old: begun(0), generation: 2, own: working, ready: 1},
		"what others read":                     {old: begun(0), generation: 1, own: working, ready: 1, isOther: true},
		"still missing":                        {old: begun(0), generation: 1, diff: missing, ready: 1, left: 20 * time.Second},
		"an update is asked for":               {old: begun(0), generation: 1, diff: metacontroller.Difference{Outdated: []string{"Service/web"}, NotUpdated: []string{"Service/web"}}, ready: 1},
		"another clock":                        {old: begun(time.Hour), generation: 1, own: working, ready: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewConditions(test.old, test.generation, noon.Add(test.now))
			c.SetSummary(report(c, test.diff, PendingChildren{}).With(test.own), ConditionDegraded)
			var last *metav1.Time
			if test.last > 0 {
				last = &metav1.Time{Time: noon.Add(test.last)}
			}
			old := paced{Status: Status{LastProgressTime: last}}
			got, left := pace(c, old, paced{Status{LastProgressTime: last}, test.ready, test.isOther})
			require.Equal(t, test.left, left)
			want := paced{Status{LastProgressTime: &c.now}, test.ready, test.isOther}
			switch {
			case c.hasNews():
				want.LastProgressTime = nil
			case left > 0, !c.hasNews() && test.ready == 0 && !test.isOther:
				want = old
			}
			require.Equal(t, want, got)
		})
	}
}

// TestWaitsThatFollowEachOtherAreOne: children that are asked for when others have appeared are
// waited for since those were, where the status may not say yet that those have.
func TestWaitsThatFollowEachOtherAreOne(t *testing.T) {
	first := NewConditions(nil, 1, noon)
	before := report(first, metacontroller.Difference{Missing: []string{"Role/a"}}, PendingChildren{})
	next := metacontroller.Difference{Missing: []string{"Job/a"}}
	for after, since := range map[time.Duration]time.Duration{9 * time.Second: 0, 10 * time.Second: 10 * time.Second} {
		second := NewConditions(first.List(), 1, noon.Add(after))
		report(second, next, before.pending)
		require.Equal(t, noon.Add(since), second.Find(ConditionChildrenObserved).LastTransitionTime.Time)
	}
}
