package why

import (
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/operator"
)

// ofChildren begins the event of a sync whose answer was good, and whose children were refused.
const ofChildren = "can't reconcile children"

// isOutdated reports whether the hook would say now what the status does not say.
func (w *walk) isOutdated() bool {
	if w.options.Recorded || w.plan.Err != nil || w.isPartial {
		return false
	}
	stored, now := kube.ConditionIn(w.parent.Object["status"], operator.ConditionReady), kube.ConditionIn(w.plan.Status, operator.ConditionReady)
	return stored.Status != now.Status || stored.Reason != now.Reason
}

// syncError returns the newest event about a sync that failed, or nil.
func (w *walk) syncError(fits func(event) bool) *event {
	return w.warning(w.parent, func(e event) bool { return strings.HasSuffix(e.reason, "Error") && fits(e) })
}

// addSync adds what keeps the operator from answering.
func (w *walk) addSync(links []Link) {
	failed := w.syncError(func(e event) bool { return !strings.Contains(e.message, ofChildren) })
	c := Cause{Source: "event", rank: unanswered, Look: w.eventsOf(kube.RefOf(w.parent))}
	retries := "Metacontroller calls the hook again, with exponential back-off"
	switch {
	case w.plan.Err != nil:
		c.Source, c.Reason, c.Message = "the hook", "NoAnswer", w.plan.Err.Error()
		c.Next = []string{retries + "; nothing that exists is changed meanwhile"}
		if failed != nil {
			c.Since = at(failed.first)
		}
	case failed != nil && (w.isBehind() || w.isOutdated()) && !w.isPast(failed):
		c.Reason, c.Message, c.Since = failed.reason, sentence(failed.message), at(failed.first)
		c.Next = []string{retries}
	case w.isBehind():
		w.addBehind(links)
		return
	default:
		w.addUncalled(links)
		return
	}
	w.add(w.parent, links, c)
}

// addUnread adds that a custom resource is not as an API server returns it.
func (w *walk) addUnread(links []Link) {
	w.add(w.parent, links, Cause{
		Source: "metadata.uid", Reason: "NotRead", rank: unanswered, Look: "operetta simulate FILE",
		Message: "it has no metadata.uid, so that it was not read from a cluster: print it with kubectl get -o json, or play it with operetta simulate",
	})
}

// addDeletion adds what keeps a custom resource that is being deleted.
func (w *walk) addDeletion(links []Link) {
	if w.parent.GetDeletionTimestamp() == nil {
		return
	}
	finalizers := w.parent.GetFinalizers()
	c := Cause{
		Source: "metadata.finalizers", Reason: "Deleting", rank: told,
		Message: heldBy(finalizers),
		Since:   at(w.parent.GetDeletionTimestamp().Time),
	}
	foreign := slices.DeleteFunc(slices.Clone(finalizers), func(name string) bool { return strings.HasPrefix(name, "metacontroller.io/") })
	if len(foreign) > 0 && len(foreign) == len(finalizers) {
		c.rank = failing // Metacontroller waits for nothing any more
		c.Next = []string{"nothing by itself: the program that set the finalizer removes it"}
	}
	w.add(w.parent, links, c)
}

// sentence returns the words of an event without what Metacontroller puts before them.
func sentence(message string) string {
	return strings.TrimPrefix(strings.TrimSpace(message), "Sync error: ")
}
