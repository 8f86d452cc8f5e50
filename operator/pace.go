package operator

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// ProgressInterval is how often a status says how far work is that goes on.
	ProgressInterval = 20 * time.Second
	// progressWindow is how long after each interval it does: a busy Metacontroller calls late.
	progressWindow = time.Second
)

// pace returns the status to write, and when there is more to write, or zero. While work goes on,
// the old status is good enough for most of each [ProgressInterval]: nobody waits for each Pod of a
// rollout, and each write is one for the API server, etcd and all who watch. The end of the work,
// what hinders it, a newer generation and children that begin to be waited for are written at once.
func pace[S any](c *Conditions, old, status S) (S, time.Duration) {
	left := c.untilProgress()
	teller, tells := any(status).(interface{ IsProgressOf(old S) bool })
	if left == 0 || tells && !teller.IsProgressOf(old) || equality.Semantic.DeepEqual(old, status) {
		return status, 0
	}
	return old, left
}

// untilProgress returns how long the old status is good enough, or zero.
func (c *Conditions) untilProgress() time.Duration {
	if c.isRepaired || c.state != Progressing || slices.ContainsFunc(c.list, c.isNews) || slices.ContainsFunc(c.old, c.isOver) {
		return 0
	}
	passed := c.now.Sub(c.Find(ConditionReady).LastTransitionTime.Time)
	if passed >= ProgressInterval && passed%ProgressInterval < progressWindow {
		return 0
	}
	return ProgressInterval - passed%ProgressInterval
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
