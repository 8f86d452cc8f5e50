package player

import (
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/lab/cluster/controllers"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/metacontroller"
)

const flaps = 2

// faultState is an action that strikes whatever has its name.
type faultState struct {
	Action

	begins int    // the step at which it begins, or 0
	active bool   // for those that last
	met    bool   // it has found its object
	left   int    // remaining changes of those that end
	misses string // why it could not happen to the last Pod, until it has happened to one
	struck bool
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

// isFault reports whether an action strikes whatever has the name of its target.
func isFault(do string) bool { return isLasting(do) || do == Evict || do == LoseNode || do == Vanish }

// isLasting reports whether one does so until it ends.
func isLasting(do string) bool { return do == Fail || do == Hold || do == Flap }

// podsOf returns the Pods among some objects, and those that the others control.
func (w *World) podsOf(objects []kube.Object) []kube.Object {
	return slices.DeleteFunc(w.server.List("v1", metacontroller.Pod.Kind), func(pod kube.Object) bool {
		for o := range w.upwards(pod) {
			if slices.Contains(objects, o) {
				return false
			}
		}
		return true
	})
}

// upwards yields an object and what controls it, up to the top.
func (w *World) upwards(object kube.Object) iter.Seq[kube.Object] {
	return func(yield func(kube.Object) bool) {
		for o := object; o != nil && yield(o); {
			owner, _ := kube.ControllerOf(o)
			o = w.server.Get(owner)
		}
	}
}

// isStruck reports whether a lasting fault applies to an object, or to what controls it.
func (w *World) isStruck(what string, object kube.Object) bool {
	struck := false
	for f := range w.lastingOn(what, object) {
		if what == Fail && f.Detail != "" {
			f.misses = "it is no Pod"
			continue
		}
		w.strikes(f)
		struck = struck || f.active
	}
	return struck
}

// troubleOf returns what hinders a Pod, or nil.
func (w *World) troubleOf(pod *corev1.Pod, object kube.Object) (found *controllers.Trouble) {
	for f := range w.lastingOn(Fail, object) {
		trouble := controllers.TroubleNamed(f.Detail)
		if misses := trouble.Misses(pod); misses != "" && f.active {
			f.misses = kube.RefOf(object).String() + ": " + misses
			continue
		}
		w.strikes(f)
		if f.active && found == nil {
			found = trouble
		}
	}
	return found
}

// lastingOn yields the faults of a kind that an object, or what controls it, has.
func (w *World) lastingOn(what string, object kube.Object) iter.Seq[*faultState] {
	return func(yield func(*faultState) bool) {
		for _, f := range w.faults {
			if f.Do != what || f.met && !f.active {
				continue
			}
			for o := range w.upwards(object) {
				if f.matches(o) && !yield(f) {
					return
				}
			}
		}
	}
}

// strikes notes that a fault has something to which it happens.
func (w *World) strikes(f *faultState) {
	if !f.met && f.active && f.left == 0 {
		w.tell(f.Action)
	}
	f.met, f.struck = true, f.struck || f.active
}
