package operettatest

import (
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// Verb is what has happened to an object.
type Verb string

// The verbs of events.
const (
	Created  = Verb(player.Created)
	Changed  = Verb(player.Changed)  // its spec, data or metadata
	Reported = Verb(player.Reported) // its status
	Deleting = Verb(player.Deleting) // it has been asked to go
	Deleted  = Verb(player.Deleted)  // it is gone
)

// Event is what has happened to an object in one step. All changes of one verb in one
// step are one event.
type Event struct {
	// Step is the number of the step. Those in which something happened are counted
	// from 1.
	Step int
	Verb Verb
	// Object is as it is after the step, or was before it went. It is not to be
	// modified.
	Object Object
}

// Events returns all that has happened to objects so far, in its order, for a test of
// what must never be, or must come before something else.
func (w *World) Events() []Event {
	verbs := []Verb{Created, Changed, Reported, Deleting, Deleted}
	var events []Event
	for _, step := range w.world.Steps {
		for _, event := range step.Events {
			if verb := Verb(event.Verb); slices.Contains(verbs, verb) {
				events = append(events, Event{Step: step.Number, Verb: verb, Object: event.Object})
			}
		}
	}
	return events
}

// Created returns the names of the objects of a kind that were ever created, in
// order: one that was created twice is listed twice.
func (w *World) Created(kind string) []string {
	var names []string
	for _, event := range w.Events() {
		if event.Verb == Created && event.Object.GetKind() == kind {
			names = append(names, event.Object.GetName())
		}
	}
	return names
}
