package player

import (
	"cmp"
	"slices"
	"strconv"
)

// Timed is an [Action] in a World that plays by itself.
type Timed struct {
	// Step is the number of the step that it begins. Zero means after everything has converged, and
	// so does a step that does not come by itself.
	Step int
	Action
}

// PlayOn is [World.Play] for a World to which more will be applied: faults and actions of a later
// step wait for that.
func (w *World) PlayOn() error {
	w.isFollowed = true
	defer func() { w.isFollowed = false }()
	return w.Play()
}

// InVain returns the actions that concerned nothing that there was, syncs that wrote too little to be
// struck, and those that did not come.
func (w *World) InVain() []Action {
	list := slices.Clone(w.vain)
	for _, t := range w.timed {
		list = append(list, t.Action)
	}
	return list
}

// Played returns what was played, as a schedule for a World without faults: calm steps, and what was
// done between them. A fault from the beginning stands where it has found its first object.
func (w *World) Played() []Action { return w.addCalm(w.played) }

func (w *World) tell(actions ...Action) {
	w.played = append(w.addCalm(w.played), actions...)
	w.steady = 0
}

func (w *World) addCalm(played []Action) []Action {
	if w.steady == 0 {
		return played
	}
	return append(slices.Clone(played), Action{Do: "calm", Target: strconv.Itoa(w.steady)})
}

// scheduled returns actions in the order in which they are to be done.
func scheduled(actions []Timed) []Timed {
	return slices.SortedStableFunc(slices.Values(actions), func(a, b Timed) int {
		return cmp.Or(cmp.Compare(min(b.Step, 1), min(a.Step, 1)), cmp.Compare(a.Step, b.Step)) // 0 is last
	})
}

// doDue does the first action whose step has come.
func (w *World) doDue() bool {
	return len(w.timed) > 0 && w.timed[0].Step > 0 && w.timed[0].Step <= len(w.Steps)+1 && w.doFirst()
}

// doNext does the next action now that everything has converged. Faults of earlier steps come first.
func (w *World) doNext() bool {
	if len(w.timed) == 0 || !w.isTime(w.timed[0].Step) {
		return false
	}
	step := w.timed[0].Step
	if slices.ContainsFunc(w.faults, func(f *faultState) bool { return f.left > 0 && f.Step > 0 && (step == 0 || f.Step <= step) }) {
		return false
	}
	for i := range w.timed {
		if step > 0 && w.timed[i].Step == step {
			w.timed[i].Step = 1 // what belongs together is done together
		}
	}
	return w.doFirst()
}

// isTime reports whether what belongs to a step is done now that everything has converged.
func (w *World) isTime(step int) bool { return step == 0 || !w.isFollowed }

func (w *World) doFirst() bool {
	action, told := w.timed[0].Action, len(w.events)
	w.timed = w.timed[1:]
	w.tell(action)
	w.missed = false
	if done := w.do(action); w.missed || !done && len(w.events) == told {
		w.vain = append(w.vain, action)
	}
	w.flush()
	return true
}
