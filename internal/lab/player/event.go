package player

import (
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
)

// Step is a step with at least one event.
type Step struct {
	// Number counts from 1.
	Number int
	// Time is the time inside the World.
	Time   time.Time
	Events []Event
}

// Verb is the sort of an event.
type Verb string

// The verbs of events.
const (
	Created  Verb = "created"
	Changed  Verb = "changed"  // its spec, data or metadata
	Reported Verb = "reported" // its status has changed
	Deleting Verb = "deleting" // its deletion was requested
	Deleted  Verb = "deleted"  // it is gone
	Failed   Verb = "failed"   // its sync has failed, Detail says why
	Struck   Verb = "struck"   // by a fault, see Detail
)

// Event is a change of an object in one step. All changes of one sort in one step are one event.
type Event struct {
	Verb Verb
	// Object is the object after the event, or before its removal. It must not
	// be modified, and is nil for a fault.
	Object kube.Object
	// Before is the object as it was, or nil.
	Before kube.Object
	// By is who did it: "a person", "the hook" for Metacontroller, or "Kubernetes" for the rest.
	By     string
	Detail string
}

func (w *World) record(c apiserver.Write) {
	w.recent = append(w.recent, c)
	by := string(c.By)
	switch {
	case c.Before == nil:
		if w.IsChild(c.After) && !w.isParentKind(c.Ref) && w.builtin.Waits(c.After) {
			w.waiting = append(w.waiting, c.Ref)
		}
		w.events = append(w.events, Event{Verb: Created, Object: c.After, By: by})
		return
	case c.After == nil:
		delete(w.foreign, c.Ref) // another object of that name may have another owner
		w.events = append(w.events, Event{Verb: Deleted, Object: c.Before, Before: c.Before, By: by})
		return
	case c.Before.GetDeletionTimestamp() == nil && c.After.GetDeletionTimestamp() != nil:
		w.addEvent(Event{Verb: Deleting, Object: c.After, Before: c.Before, By: by})
		return
	}
	if kube.IsSeenToDiffer(c.Before, c.After) {
		w.addEvent(Event{Verb: Changed, Object: c.After, Before: c.Before, By: by})
	}
	if !kube.Equal(c.Before.Object["status"], c.After.Object["status"]) {
		w.addEvent(Event{Verb: Reported, Object: c.After, Before: c.Before, By: by})
	}
}

func (w *World) addEvent(event Event) {
	for i := len(w.events) - 1; i >= 0 && i >= len(w.events)-16; i-- {
		other := &w.events[i]
		if other.Verb == event.Verb && other.By == event.By && other.Object != nil && kube.RefOf(other.Object) == kube.RefOf(event.Object) {
			other.Object = event.Object
			return
		}
	}
	w.events = append(w.events, event)
}

// Differences returns the changed fields in the order of the paths. It is empty for other events.
func (e Event) Differences() []kube.Difference {
	switch {
	case e.Before == nil || e.Object == nil:
		return nil
	case e.Verb == Reported:
		return kube.Comparison{}.Status(e.Before, e.Object)
	case e.Verb == Changed:
		return kube.Comparison{}.Objects(e.Before, e.Object)
	}
	return nil
}

// Paths returns the changed fields, as in "spec.replicas: 3 -> 4", before and after.
func (e Event) Paths() []string {
	var paths []string
	for _, d := range e.Differences() {
		paths = append(paths, d.String())
	}
	return paths
}
