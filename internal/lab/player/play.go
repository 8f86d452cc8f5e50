package player

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/operator"
)

// Play plays until nothing changes any more, triggers the faults that wait for that, and then
// checks that another sync of each parent a second later writes nothing, and that two syncs answer
// the same bytes. The error says what keeps changing, or which check failed.
func (w *World) Play() error {
	w.quiet = map[kube.Ref]bool{}
	for range w.options.MaxSteps {
		if w.options.Stop != nil {
			if err := w.options.Stop(); err != nil {
				return err
			}
		}
		if w.doDue() {
			continue
		}
		busy := w.Step()
		w.steady++
		if err := w.server.Full(); err != nil {
			return err
		}
		if busy {
			continue
		}
		if w.wait() || w.doNext() || w.triggerNext() {
			continue
		}
		if err := w.checkGone(); err != nil {
			return err
		}
		return w.checkQuiet()
	}
	return fmt.Errorf("no fixed point after %d steps: %s", w.options.MaxSteps, w.whatChanges())
}

// Step plays one step, and reports whether anything happened or is about to happen.
func (w *World) Step() bool {
	w.now = w.now.Add(time.Second)
	w.builtin.BeginStep()
	w.composite.DeliverAll()
	w.triggerDue(len(w.Steps) + 1)
	w.composite.Step()
	w.builtin.Step()
	w.noteUnacted()
	w.flush()
	return w.composite.IsBusy() || w.builtin.IsBusy()
}

func (w *World) wait() bool {
	next := w.nextTimer()
	if next.IsZero() {
		return false
	}
	// The step itself takes a second.
	if at := next.Add(-time.Second); at.After(w.now) {
		w.now = at
	}
	return true
}

// Next returns when something is due of itself, or zero.
func (w *World) Next() time.Time { return w.nextTimer() }

func (w *World) nextTimer() time.Time {
	return apiserver.Earliest(w.composite.NextTimer(), w.builtin.NextTimer())
}

func (w *World) triggerDue(step int) {
	for _, t := range w.faults {
		if t.begins > 0 && t.begins <= step && t.left > 0 {
			t.begins = 0
			w.tell(t.Action)
			w.trigger(t)
		}
	}
}

func (w *World) triggerNext() bool {
	for _, t := range w.faults {
		if t.left > 0 && w.isTime(t.begins) {
			w.tell(t.Action)
			w.trigger(t)
			return true
		}
	}
	return false
}

func (w *World) trigger(t *faultState) {
	t.left--
	detail := t.now().String()
	wasActive := t.active
	t.active = t.Do == Fail || t.Do == Hold || t.Do == Flap && !wasActive
	if wasActive && !t.active {
		detail += " is over"
	}
	targets := slices.DeleteFunc(w.Objects(), func(object kube.Object) bool { return !t.matches(object) })
	// A child may have the kind and the name of the custom resource, in another API group: it is meant then.
	if children := slices.DeleteFunc(slices.Clone(targets), w.IsOfParent); len(children) > 0 {
		targets = children
	}
	if t.Do == Evict || t.Do == LoseNode {
		targets = w.podsOf(targets)
	}
	if len(targets) == 0 {
		return
	}
	t.met = true
	w.events = append(w.events, Event{Verb: Struck, Detail: detail})
	for _, object := range targets {
		switch t.Do {
		case Evict:
			w.builtin.Evict(kube.RefOf(object), cmp.Or(t.Detail, "memory"))
		case LoseNode:
			w.builtin.LoseNode(object)
		case Vanish:
			_ = w.Delete(kube.RefOf(object)) // it was there a moment ago
		}
	}
	w.builtin.CheckPods()
}

func (w *World) checkGone() error {
	for _, p := range w.composite.Parents() {
		object := w.server.Get(p.Ref)
		if object == nil || object.GetDeletionTimestamp() == nil {
			continue
		}
		reason := cmp.Or(p.Failure, "the finalizers "+strings.Join(object.GetFinalizers(), ", ")+" hold it")
		return fmt.Errorf("%s is being deleted and does not go: %s", w.describe(p.Ref), reason)
	}
	return nil
}

func (w *World) checkQuiet() error {
	var failures []error
	for _, p := range w.composite.Parents() {
		object := w.server.Get(p.Ref)
		if object == nil || p.Failure != "" {
			continue
		}
		err := w.checkParent(p.Ref)
		if w.quiet[p.Ref] = err == nil; err != nil {
			failures = append(failures, fmt.Errorf("%s is not quiet: %w", w.describe(p.Ref), err))
		}
	}
	w.events = nil
	return errors.Join(failures...)
}

// noteUnacted says of children that nothing acts on them, once their custom resource has seen
// them and is not Ready: it may wait for ever.
func (w *World) noteUnacted() {
	w.waiting = slices.DeleteFunc(w.waiting, func(ref kube.Ref) bool {
		child := w.server.Get(ref)
		owner, _ := kube.ControllerOf(child)
		parent := w.server.Get(owner)
		if parent == nil {
			return true
		}
		if !child.GetCreationTimestamp().Time.Before(w.now) || kube.ConditionOf(parent, operator.ConditionReady).Status == "True" {
			return false
		}
		w.note(fmt.Sprintf("nothing here acts on %s: no controller of the simulation writes its status", ref))
		return true
	})
}

func (w *World) checkParent(parent kube.Ref) error {
	now := w.now
	defer func() { w.now = now }()
	w.now = now.Add(time.Second) // a status that contains the time would change
	requests, seen := w.composite.Requests(), len(w.recent)
	first, err := w.composite.Resync(parent)
	if err != nil {
		return fmt.Errorf("another sync fails: %w", err)
	}
	if w.composite.Requests() != requests {
		if changes := changesOf(w.recent[seen:]); len(changes) > 0 {
			return fmt.Errorf("another sync writes %s", strings.Join(changes, "; "))
		}
		return errors.New("another sync writes something that the API server drops, and so would every other")
	}
	w.composite.DeliverAll()
	second, err := w.composite.Resync(parent)
	if err != nil {
		return fmt.Errorf("another sync fails: %w", err)
	}
	if !bytes.Equal(first, second) {
		return errors.New("two syncs of the same world have different answers")
	}
	return nil
}

const remembered = 200

func (w *World) whatChanges() string {
	changes := changesOf(w.recent[max(0, len(w.recent)-40):])
	if len(changes) == 0 {
		return "the hooks are called again and again"
	}
	return strings.Join(few(changes, 6), "; ")
}

func changesOf(list []apiserver.Write) []string {
	var lines []string
	add := func(line string) {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for _, c := range list {
		switch {
		case c.Before == nil:
			add(c.Ref.String() + " appears")
		case c.After == nil:
			add(c.Ref.String() + " goes")
		default:
			for _, verb := range []Verb{Changed, Reported} {
				for _, path := range (Event{Verb: verb, Object: c.After, Before: c.Before}).Paths() {
					add(c.Ref.String() + " " + path)
				}
			}
		}
	}
	return lines
}
