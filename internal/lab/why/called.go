package why

import (
	"fmt"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

const (
	// callGrace is how long Metacontroller may take to call a hook after a change. It is told of each
	// at once.
	callGrace = 10 * time.Second
	// longestRetry is how long it waits at most before it calls a hook again that has failed, with the
	// time in which equal events are counted as one.
	longestRetry = 20 * time.Minute
)

const (
	// notCalled is the reason of the cause that is the same one for all custom resources.
	notCalled = "NotCalled"
	// notSynced is that of a sync that is to come.
	notSynced = "NotSynced"
)

var lookAtMetacontroller = "kubectl --namespace metacontroller get pods; kubectl --namespace metacontroller logs statefulset/metacontroller --tail=50"

// isBehind reports whether the status is about an older generation.
func (w *walk) isBehind() bool { return !w.options.Recorded && w.observed() < w.parent.GetGeneration() }

// observed returns the generation that the status is about.
func (w *walk) observed() int64 { return number(w.parent, "status", "observedGeneration") }

// written returns when the newest generation was written at the latest, or the zero time if nothing
// tells.
func (w *walk) written() time.Time {
	var last time.Time
	if w.observed() == 0 {
		last = w.parent.GetCreationTimestamp().Time
	}
	for _, entry := range w.parent.GetManagedFields() {
		if entry.Time != nil && entry.Subresource == "" {
			last = later(last, entry.Time.Time)
		}
	}
	if deleted := w.parent.GetDeletionTimestamp(); deleted != nil { // which is a new generation
		last = later(last, deleted.Time)
	}
	return last
}

// addBehind adds that nobody has observed the newest generation, and whether that is longer than
// Metacontroller takes.
func (w *walk) addBehind(links []Link) {
	written := w.written()
	c := Cause{Source: "status.observedGeneration", Reason: notSynced, Since: at(written), rank: unanswered, Look: lookAtMetacontroller}
	what := fmt.Sprintf("nobody has observed generation %d: the status is about generation %d", w.parent.GetGeneration(), w.observed())
	if w.observed() == 0 {
		what = "no operator has synced it yet"
	}
	c.Message = what
	switch {
	case written.IsZero():
		c.Next = []string{"Metacontroller calls the hook within seconds of an edit; kubectl get --show-managed-fields tells when that was"}
	case w.options.Now.Sub(written) > callGrace:
		c.Reason, c.Message, c.Next = notCalled, w.silence()+what, untilItRuns
	default:
		c.Next = []string{"Metacontroller calls the hook within seconds"}
	}
	w.add(w.parent, links, c)
}

var untilItRuns = []string{"nothing by itself: what exists stays as it is"}

// silence says that Metacontroller does not call the hook, as far as it is known.
func (w *walk) silence() string {
	if !w.seesEvents() {
		return "Metacontroller does not call its hook, or has no answer of it, which only events tell: "
	}
	return "Metacontroller does not call its hook: "
}

// addUncalled adds that the hook was not called although what it reads has changed: it asks for a child
// that nobody makes, or would say that it is Ready.
func (w *walk) addUncalled(links []Link) {
	if _, isOverdue := w.overdue(); !isOverdue {
		return
	}
	what := ""
	if kube.ConditionIn(w.plan.Status, operator.ConditionReady).Status == "True" {
		what = "the hook says now that it is Ready"
	}
	for _, desired := range w.plan.Children {
		ref := w.refOf(desired)
		if w.get(ref) == nil && w.plan.Refused[ref] == nil && w.sees(metacontroller.Resource{APIVersion: ref.APIVersion, Kind: ref.Kind}) {
			what = "nobody has made " + ref.String() + ", which the hook asks for"
			break
		}
	}
	if what != "" {
		w.add(w.parent, links, Cause{Source: "the hook", Reason: notCalled, Message: w.silence() + what, rank: unanswered, Next: untilItRuns, Look: lookAtMetacontroller})
	}
}

// overdue returns since when the hook should have been called, and whether that is too long: the status is
// not what it says now and has said for longer than it wants to wait, and nothing that it reads has changed
// since then.
func (w *walk) overdue() (since time.Time, isOverdue bool) {
	since = w.plan.Changed.Add(w.plan.Resync)
	if !w.isOutdated() || w.plan.ask == nil || w.plan.Changed.IsZero() || !w.isDue(since) || w.isTried() {
		return since, false
	}
	before := w.plan.ask(w.options.Now.Add(-w.plan.Resync - callGrace))
	was, is := kube.ConditionIn(before.Status, operator.ConditionReady), kube.ConditionIn(w.plan.Status, operator.ConditionReady)
	return since, was.Status == is.Status && was.Reason == is.Reason
}

// isTried reports whether Metacontroller tries to sync the custom resource, as an event says.
func (w *walk) isTried() bool {
	failed := w.syncError(anyEvent)
	return failed != nil && !w.isPast(failed)
}

// isPast reports whether a sync that failed was followed by no other one when it should have been.
func (w *walk) isPast(failed *event) bool {
	written := w.written()
	isOfAnother := w.isBehind() && failed.last.Before(written) && w.options.Now.Sub(written) > callGrace
	return isOfAnother || !failed.last.IsZero() && w.options.Now.Sub(failed.last) > longestRetry
}

// isUncalled reports whether a cause is that Metacontroller does not call.
func (w *walk) isUncalled() bool { return len(w.causes) > 0 && w.causes[0].Reason == notCalled }
