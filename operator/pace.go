package operator

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProgressInterval is how often a status says at most how far work is that goes on.
const ProgressInterval = 20 * time.Second

// pace returns the status to write, and when there is more to write, or zero. While work goes on,
// the old status is good enough until it is a [ProgressInterval] old: nobody waits for each Pod of a
// rollout, and each write is one for the API server, etcd and all who watch. The end of the work,
// what hinders it, a newer generation and children that begin to be waited for are written at once.
// The status comes with the old LastProgressTime.
func pace[S any, P inStatus[S]](c *Conditions, old, status S) (S, time.Duration) {
	common := P(&status).common()
	if c.hasNews() { // which a condition tells the time of
		common.LastProgressTime = nil
		return status, 0
	}
	teller, tells := any(status).(interface{ IsProgressOf(old S) bool })
	switch left := c.untilProgress(common.LastProgressTime); {
	case equality.Semantic.DeepEqual(old, status):
		return old, 0
	case tells && !teller.IsProgressOf(old):
	case left > 0:
		return old, left
	}
	common.LastProgressTime = &c.now
	return status, 0
}

// hasNews reports whether the conditions say more than how far the work is.
func (c *Conditions) hasNews() bool {
	return c.isRepaired || c.state != Progressing || slices.ContainsFunc(c.list, c.isNews) || slices.ContainsFunc(c.old, c.isOver)
}

// untilProgress returns how long the old status is good enough, or zero. It was written when it says,
// or when a condition changed after that. A time that is yet to come is wrong.
func (c *Conditions) untilProgress(last *metav1.Time) time.Duration {
	passed := ProgressInterval
	if last != nil && !last.After(c.now.Time) {
		passed = c.now.Sub(last.Time)
	}
	for i := range c.old {
		passed = min(passed, c.now.Sub(c.old[i].LastTransitionTime.Time))
	}
	return max(0, ProgressInterval-passed)
}

// isNews reports whether a condition says more than how far the work is.
func (c *Conditions) isNews(is metav1.Condition) bool {
	was := meta.FindStatusCondition(c.old, is.Type)
	switch {
	case was == nil || was.ObservedGeneration != is.ObservedGeneration:
		return true
	case is.Type == ConditionChildrenObserved && is.Status == metav1.ConditionTrue:
		return was.Status != is.Status && !c.isRecent(was)
	}
	return was.Status != is.Status || !was.LastTransitionTime.Equal(&is.LastTransitionTime)
}

// isOver reports whether an old condition is gone that somebody may wait for.
func (c *Conditions) isOver(was metav1.Condition) bool {
	return c.Find(was.Type) == nil && (was.Type != ConditionChildrenUpdated || !c.isRecent(&was))
}

// isRecent reports whether a wait for children began so lately that its end need not be
// written yet: one that is missing once more would be waited for since then.
func (c *Conditions) isRecent(was *metav1.Condition) bool {
	return c.now.Sub(was.LastTransitionTime.Time) < ProgressInterval
}
