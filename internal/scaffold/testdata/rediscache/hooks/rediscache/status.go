package rediscache

import (
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// status reports what is observed, and after what time to look again. While a child is
// missing or not what is asked for, the conditions say so; else they say how far the
// StatefulSet is.
func status(parent *RedisCache, found observed, differs metacontroller.Difference, conditions *operator.Conditions) (Status, time.Duration) {
	reported := conditions.ReportChildren(differs, parent.Status.PendingChildren)
	summary := reported.Summary
	if reported.ChildrenUpToDate {
		summary = found.set.Rollout().Summary()
	}
	conditions.SetSummary(summary)

	next := Status{Conditions: conditions.List(), PendingChildren: reported.Pending}
	if found.set != nil {
		next.ReadyReplicas = found.set.Status.ReadyReplicas
	}
	return next, reported.ResyncAfter
}
