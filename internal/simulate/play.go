package simulate

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxIdleJumps is how often the clock may jump to a timer that then changes
// nothing.
const maxIdleJumps = 3

// Play plays until nothing changes, with every fault that waits for that. The
// error says that there is no fixed point and what keeps changing, or that the
// world did not stay quiet.
func (w *World) Play() error {
	for {
		if err := w.settle(); err != nil {
			return err
		}
		if !w.strike() {
			break
		}
	}
	for _, parent := range w.parents() {
		p := w.playerOf(parent)
		if p.failure != "" {
			continue // it is frozen, not converged
		}
		if err := p.again(w.store.get(keyOf(parent))); err != nil {
			return fmt.Errorf("%s is not quiet: %w", ref(parent), err)
		}
	}
	return nil
}

// settle advances until a step changes nothing and no timer will.
func (w *World) settle() error {
	first, idleJumps := w.step, 0
	for w.step-first < w.options.MaxSteps {
		version := w.store.version
		w.advance()
		if w.store.version != version {
			idleJumps = 0
			continue
		}
		due, waiting := w.nextTimer()
		if !waiting || idleJumps == maxIdleJumps {
			return nil
		}
		idleJumps++
		w.now = due
	}
	return fmt.Errorf("no fixed point after %d steps: %s", w.options.MaxSteps, w.restless())
}

// advance plays one step: Metacontroller first, then everything else.
func (w *World) advance() {
	w.step++
	w.now = w.now.Add(stepTime)
	w.begin()
	w.wakeAt = time.Time{}
	for _, parent := range w.parents() {
		w.playerOf(parent).sync(parent)
	}
	for _, k := range slices.Clone(w.store.keys()) {
		o := w.store.get(k)
		if o == nil {
			continue
		}
		switch keyKind(o) {
		case "Deployment.apps/v1", "StatefulSet.apps/v1", "DaemonSet.apps/v1":
			w.stepWorkload(o)
		case "Job.batch/v1":
			w.stepJob(o)
		case "Pod.v1":
			w.stepPod(o)
		}
	}
	w.collectGarbage()
	w.inStep = false
	if len(w.Steps[len(w.Steps)-1].Events) == 0 {
		w.Steps = w.Steps[:len(w.Steps)-1]
	}
}

// wake asks for a step at a time, for a controller that waits.
func (w *World) wake(at time.Time) {
	if at.After(w.now) && (w.wakeAt.IsZero() || at.Before(w.wakeAt)) {
		w.wakeAt = at
	}
}

// nextTimer returns the earliest time at which someone wants to look again.
func (w *World) nextTimer() (time.Time, bool) {
	due := w.wakeAt
	for _, parent := range w.parents() {
		p := w.playerOf(parent)
		if !p.due.IsZero() && (due.IsZero() || p.due.Before(due)) {
			due = p.due
		}
	}
	if due.IsZero() {
		return due, false
	}
	if due = due.Add(-stepTime); due.Before(w.now) {
		due = w.now
	}
	return due, true
}

// restless names what changed in the last steps.
func (w *World) restless() string {
	var names []string
	for _, step := range w.Steps[max(0, len(w.Steps)-4):] {
		for _, event := range step.Events {
			if event.Object == nil {
				continue
			}
			name := ref(event.Object) + " is " + string(event.Verb)
			if paths := event.Paths(); len(paths) > 0 {
				name += fmt.Sprintf(" at %s", paths[0])
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	const most = 6
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return fmt.Sprintf("these keep changing: %q", names)
}

// Outcome is how a parent ended.
type Outcome struct {
	Parent *unstructured.Unstructured
	// Ready is the status of its condition Ready, with reason and message.
	Ready, Reason, Message string
	// Failure is the error of its hook, or empty.
	Failure string
	// Calls is the number of sync and finalize calls.
	Calls int
	// Children is the number of children.
	Children int
	// After is the time from the first step to the last that changed anything.
	After time.Duration
}

// Outcomes returns how each parent that is left ended.
func (w *World) Outcomes() []Outcome {
	var list []Outcome
	for _, parent := range w.parents() {
		p := w.playerOf(parent)
		ready := conditionsOf(parent)["Ready"]
		text := func(field string) string { value, _ := ready[field].(string); return value }
		list = append(list, Outcome{
			Parent: parent, Ready: text("status"), Reason: text("reason"), Message: text("message"),
			Failure: p.failure, Calls: p.calls, Children: len(p.children(parent)),
			After: w.Steps[len(w.Steps)-1].Time.Sub(w.Steps[0].Time),
		})
	}
	return list
}
