package podset

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// Something else may delete Pods as soon as they are created: the taint
// controller, for a template that names a tainted node, or a script. A
// ReplicaSet recreates them for ever; here that would use up the requests that
// all custom resources share.
const (
	// lostWindow is the time in which lost Pods are counted.
	lostWindow = 10 * time.Minute
	// lostTimes is how often all Pods may be lost and replaced at once in that
	// time: an upgrade of all nodes evicts a Pod once, or a few times.
	lostTimes = 3
)

// countLost returns how many Pods something else than the PodSet has taken away
// lately: the count of the last status, plus the up-to-date Pods of the last status
// that are gone, being deleted or labelled as of another template, which is as good
// as gone, minus those that the PodSet deleted itself. Failed Pods count like
// others, and so do those that are being deleted when they are first observed. It
// returns nil for zero. An edit of the spec resets it.
func countLost(set *PodSet, observed observed, before map[int]bool, now time.Time) *Lost {
	status := &set.Status
	if status.ObservedGeneration != set.Generation {
		return nil
	}
	_, current := observed.readiness()
	// A Pod that was outdated before and is gone is one less here and one more below.
	count := int32(len(observed.live)-current) - (status.Replicas - status.UpdatedReplicas) - status.Released
	for _, names := range [][]string{status.Nodes, status.FailedPods} {
		for _, name := range names {
			if !observed.alive[name] {
				count++
			}
		}
	}
	for number := range before {
		if observed.taken[number] && !observed.alive[podName(set, number)] {
			count++
		}
	}
	switch {
	case count <= 0:
		return status.Lost
	case status.Lost == nil || !now.Before(status.Lost.until()):
		return &Lost{Count: count, Since: metav1.NewTime(now)}
	default:
		return &Lost{Count: status.Lost.Count + count, Since: status.Lost.Since}
	}
}

// until returns when the count is reset.
func (l *Lost) until() time.Time { return l.Since.Add(lostWindow) }

// tooMany returns until when no Pods are created because too many have been
// lost, or the zero time. A Since in the future was written by another clock
// and is ignored.
func (l *Lost) tooMany(size int, now time.Time) time.Time {
	if l == nil || int(l.Count) <= lostTimes*size+operator.FirstBurst || l.Since.After(now) || !now.Before(l.until()) {
		return time.Time{}
	}
	return l.until()
}

// String returns the sentence for a status message.
func (l *Lost) String() string {
	return fmt.Sprintf("%d Pods have been deleted by something else since %s, or labelled as of another template, so the next ones are made at %s: see `kubectl events` for what deletes them, "+
		"such as a taint of the node that the template names, or edit the spec to go on at once",
		l.Count, l.Since.UTC().Format(time.RFC3339), l.until().UTC().Format(time.RFC3339))
}
