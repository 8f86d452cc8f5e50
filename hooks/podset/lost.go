package podset

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// Something else may delete Pods as soon as they are made: the controller of a taint,
// for a template that names a tainted node, or a person's script. A ReplicaSet makes them
// anew for ever; here that would cost requests that all custom resources share.
const (
	// lostWindow is the time in which lost Pods are counted.
	lostWindow = 10 * time.Minute
	// lostTimes is how many times all Pods may be lost in that time and be replaced at
	// once: an upgrade of all nodes evicts a Pod once, or a few times.
	lostTimes = 3
)

// countLost returns how many Pods something else than the PodSet has deleted lately:
// those of the last status that are not there any more, or are being deleted, but for as
// many as the PodSet let go itself, are added to the ones before. It returns nil where
// there are none. An edit of the spec begins anew.
func countLost(set *PodSet, there observed, now time.Time) *Lost {
	status := &set.Status
	if status.ObservedGeneration != set.Generation {
		return nil
	}
	count := -status.Released
	for _, name := range status.Nodes {
		if !there.alive[name] {
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

// until returns when the Pods are counted anew.
func (l *Lost) until() time.Time { return l.Since.Add(lostWindow) }

// tooMany returns until when no Pods are made because too many have been lost, or the
// zero time. Where Since is yet to come, somebody with another clock wrote it, and nothing
// waits for that.
func (l *Lost) tooMany(size int, now time.Time) time.Time {
	if l == nil || int(l.Count) <= lostTimes*size+operator.FirstBurst || l.Since.After(now) || !now.Before(l.until()) {
		return time.Time{}
	}
	return l.until()
}

// String says it in a message.
func (l *Lost) String() string {
	return fmt.Sprintf("%d Pods have been deleted by something else since %s, so the next ones are made at %s: see `kubectl events` for what deletes them, "+
		"such as a taint of the node that the template names, or edit the spec to go on at once",
		l.Count, l.Since.UTC().Format(time.RFC3339), l.until().UTC().Format(time.RFC3339))
}
