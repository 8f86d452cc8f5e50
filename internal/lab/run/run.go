// Package run is what happened in a simulated cluster, as data and as text.
package run

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// Run is what happened.
type Run struct {
	// Error is what operetta simulate ends with, or empty.
	Error string `json:"error"`
	// Transcript is the text that operetta simulate prints.
	Transcript string    `json:"transcript"`
	Outcomes   []Outcome `json:"outcomes"`
	// Begins is when the first step did, in the time of its cluster.
	Begins time.Time `json:"begins"`
	// Steps are numbered from 1.
	Steps []Step `json:"steps"`
	// Objects are in the order in which they came.
	Objects []*Object `json:"objects"`
}

// Outcome is how a custom resource ended.
type Outcome struct {
	Object   int    `json:"object"`
	Ready    string `json:"ready"`
	Reason   string `json:"reason"`
	Message  string `json:"message"`
	Failure  string `json:"failure,omitempty"`
	Calls    int    `json:"calls"`
	Children int    `json:"children"`
}

// Step is a step in which something happened.
type Step struct {
	// Seconds are those since the first step.
	Seconds float64 `json:"seconds"`
	// Lines are what the transcript says of it.
	Lines  []string `json:"lines"`
	Events []Event  `json:"events"`
}

// Event is one change.
type Event struct {
	Verb player.Verb `json:"verb"`
	// Object is an index, or nil.
	Object  *int     `json:"object,omitempty"`
	By      string   `json:"by,omitempty"`
	Detail  string   `json:"detail,omitempty"`
	Changes []Change `json:"changes,omitempty"`
}

// Change is a field that has changed, with short values.
type Change struct {
	Path   string `json:"path"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Object is an object in all its versions.
type Object struct {
	ID         string `json:"id"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Role is parent, child, below or other.
	Role     string    `json:"role"`
	Versions []Version `json:"versions"`
}

// Version is an object from a step on.
type Version struct {
	Step int `json:"step"`
	// Owner is the index of its controller, or -1.
	Owner    int        `json:"owner"`
	State    kube.State `json:"state"`
	Deleting bool       `json:"deleting,omitempty"`
	Progress string     `json:"progress,omitempty"`
	// Object is what kubectl shows, without the values of Secrets. It is absent once it is gone.
	Object json.RawMessage `json:"object,omitempty"`
}

// Recorder records what happens in a world.
type Recorder struct {
	world   *player.World
	objects []*Object
	latest  [][]kube.Object // by object and version
	index   map[kube.Ref]int
}

// Record records from now on.
func Record(world *player.World) *Recorder {
	r := &Recorder{world: world, index: map[kube.Ref]int{}}
	world.Watch(r.written, nil, nil)
	return r
}

// written keeps the last version of an object in each step.
func (r *Recorder) written(w player.Write) {
	if w.Ref.Kind == "Namespace" {
		return
	}
	at, found := r.index[w.Ref]
	if !found {
		at = len(r.objects)
		r.index[w.Ref] = at
		r.objects = append(r.objects, &Object{
			ID: w.Ref.String(), APIVersion: w.Ref.APIVersion, Kind: w.Ref.Kind, Namespace: w.Ref.Namespace, Name: w.Ref.Name, Role: r.role(w.After),
		})
		r.latest = append(r.latest, nil)
	}
	o, step := r.objects[at], len(r.world.Steps)+1
	if n := len(o.Versions); n == 0 || o.Versions[n-1].Step != step {
		o.Versions = append(o.Versions, Version{Step: step})
		r.latest[at] = append(r.latest[at], nil)
	}
	r.latest[at][len(o.Versions)-1] = w.After
}

func (r *Recorder) role(object kube.Object) string {
	owner, owned := kube.ControllerOf(object)
	_, isKnown := r.index[owner]
	switch {
	case object == nil:
		return "other"
	case r.world.IsOfParent(object):
		return "parent"
	case r.world.IsChild(object):
		return "child"
	case owned && isKnown:
		return "below"
	}
	return "other"
}

// Run returns what has happened so far. The transcript and the error are those of who played it.
func (r *Recorder) Run(transcript string, failure error) (*Run, error) {
	run := &Run{Transcript: transcript, Outcomes: []Outcome{}, Steps: []Step{}, Objects: []*Object{}}
	if failure != nil {
		run.Error = failure.Error()
	}
	for _, o := range r.world.Outcomes() {
		run.Outcomes = append(run.Outcomes, Outcome{
			Object: r.index[kube.RefOf(o.Parent)], Ready: o.Ready, Reason: o.Reason, Message: o.Message,
			Failure: o.Failure, Calls: o.Calls, Children: o.Children,
		})
	}
	if len(r.world.Steps) > 0 {
		run.Begins = r.world.Steps[0].Time
	}
	var lines Printer
	for _, step := range r.world.Steps {
		seconds := step.Time.Sub(r.world.Steps[0].Time).Seconds()
		s := Step{Seconds: seconds, Lines: lines.Lines(r.world, step), Events: []Event{}}
		for _, event := range step.Events {
			if event.Object == nil || event.Object.GetKind() != "Namespace" {
				s.Events = append(s.Events, r.event(event))
			}
		}
		run.Steps = append(run.Steps, s)
	}
	for i, o := range r.objects {
		complete, err := r.complete(o, r.latest[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.ID, err)
		}
		if len(complete.Versions) > 0 { // else it came in the last check, as those behind it
			run.Objects = append(run.Objects, complete)
		}
	}
	return run, nil
}

func (r *Recorder) event(event player.Event) Event {
	e := Event{Verb: event.Verb, By: event.By, Detail: event.Detail}
	if event.Object == nil {
		return e
	}
	if at, found := r.index[kube.RefOf(event.Object)]; found {
		e.Object = &at
	}
	for _, d := range event.Differences() {
		was, is := d.Short()
		e.Changes = append(e.Changes, Change{d.Path, was, is})
	}
	return e
}

// complete returns an object with what is shown of its versions. Those of the last check, which
// is no step, are left out.
func (r *Recorder) complete(object *Object, latest []kube.Object) (*Object, error) {
	complete := *object
	complete.Versions = nil
	for i, v := range object.Versions {
		if v.Step > len(r.world.Steps) {
			break
		}
		now := latest[i]
		v.Owner, v.State = -1, kube.Gone
		if now != nil {
			owner, owned := kube.ControllerOf(now)
			if at, found := r.index[owner]; owned && found {
				v.Owner = at
			}
			text, err := json.Marshal(kube.Shown(now))
			if err != nil {
				return nil, err
			}
			v.State, v.Progress, v.Object = kube.StateOf(now), kube.Progress(now), text
			v.Deleting = now.GetDeletionTimestamp() != nil
		}
		complete.Versions = append(complete.Versions, v)
	}
	return &complete, nil
}
