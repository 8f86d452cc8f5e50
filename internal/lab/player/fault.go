package player

import (
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"
)

const flaps = 2

// faultState is an action that strikes whatever has its name.
type faultState struct {
	Action

	begins int  // the step at which it begins, or 0
	active bool // for those that last
	met    bool // it has found its object
	left   int  // remaining changes of those that end
}

func newFault(a Action) *faultState {
	f := &faultState{Action: a, begins: a.At, left: 1}
	switch {
	case a.Do == Flap:
		f.left = 2 * flaps
	case a.At == 0 && (a.Do == Fail || a.Do == Hold):
		f.active, f.left = true, 0
	}
	return f
}

func (f *faultState) matches(object kube.Object) bool {
	kind, name, _ := strings.Cut(f.Target, "/")
	if kind != image {
		return object.GetKind() == kind && object.GetName() == name
	}
	return slices.Contains(imagesOf(object.Object), name)
}

// isStruck reports whether a lasting fault applies to an object, or to what controls it.
func (w *World) isStruck(what string, object kube.Object) bool {
	struck := false
	for _, f := range w.faults {
		if f.Do != what || f.met && !f.active {
			continue
		}
		for o := object; o != nil; {
			if f.matches(o) {
				if !f.met && f.active && f.left == 0 {
					w.tell(f.Action)
				}
				f.met = true
				struck = struck || f.active
			}
			owner, _ := kube.ControllerOf(o)
			o = w.server.Get(owner)
		}
	}
	return struck
}
