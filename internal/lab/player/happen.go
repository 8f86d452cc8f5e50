package player

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Vain is an action that had no effect.
type Vain struct {
	Action
	// Why says why, and what there is instead.
	Why string
}

// String returns both.
func (v Vain) String() string { return v.Action.String() + ": " + v.Why }

// PlayOn is [World.Play] for a World to which more will be applied: actions of a later step wait for that.
func (w *World) PlayOn() error {
	w.isFollowed = true
	defer func() { w.isFollowed = false }()
	return w.Play()
}

// InVain returns the actions that concerned nothing that there was, those that changed nothing, and those
// that did not come.
func (w *World) InVain() []Vain {
	list := slices.Clone(w.vain)
	for _, t := range w.timed {
		list = append(list, Vain{t.Action, "it did not come to that"})
	}
	for _, f := range w.faults {
		switch {
		case f.misses != "" && !f.struck:
			list = append(list, Vain{f.Action, f.misses})
		case f.met:
		case f.begins > 0 && f.left > 0:
			list = append(list, Vain{f.Action, "it did not come to that"})
		default:
			list = append(list, Vain{f.Action, w.instead(f.Target)})
		}
	}
	for _, a := range w.refusing {
		if kind, how := refusalOf(a); !w.server.HasRefused(kind, how) {
			list = append(list, Vain{a, inVain(kind, how)})
		}
	}
	for _, a := range w.taken {
		if !w.isMissed(a.Target) {
			list = append(list, Vain{a, "nobody wants that name"})
		}
	}
	return list
}

// instead says why nothing can happen to an object: mostly there is none of that name, but others.
func (w *World) instead(target string) string {
	kind, name, isObject := strings.Cut(target, "/")
	if !isObject {
		return "there is nothing to which it could happen"
	}
	if _, found := w.find(target); found {
		return "there is nothing of it to which that could happen"
	}
	var ofKind, kinds []string
	add := func(list *[]string, one string) {
		if !slices.Contains(*list, one) {
			*list = append(*list, one)
		}
	}
	for _, object := range w.Objects() {
		if kind == image {
			for _, used := range imagesOf(object.Object) {
				add(&ofKind, image+"/"+used)
			}
		}
		switch {
		case object.GetKind() == kind:
			add(&ofKind, kind+"/"+object.GetName())
		case object.GetKind() != "Namespace":
			add(&kinds, object.GetKind())
		}
	}
	switch {
	case len(ofKind) > 0:
		return "there is no such object, but " + strings.Join(few(ofKind, 6), ", ")
	case len(kinds) == 0:
		return "there is no object"
	case kind == image:
		return "there is no Pod with the image " + name
	}
	return fmt.Sprintf("there is no %s, but objects of the kinds %s", kind, strings.Join(few(kinds, 6), ", "))
}

// few returns the first texts of a list, and then how many more there are.
func few(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most))
}

// imagesOf returns the images of a Pod's containers.
func imagesOf(object map[string]any) (images []string) {
	if object["kind"] != "Pod" {
		return nil
	}
	containers, _, _ := unstructured.NestedSlice(object, "spec", "containers")
	for _, container := range containers {
		if fields, ok := container.(map[string]any); ok {
			images = append(images, fmt.Sprint(fields["image"]))
		}
	}
	return images
}

// Played returns what was played, as a schedule for a World that does nothing by itself: calm steps, and
// what was done between them. A fault from the beginning stands where it has found its first object.
func (w *World) Played() []Action { return w.addCalm(w.played) }

func (w *World) tell(action Action) {
	w.played = append(w.addCalm(w.played), action.now())
	w.steady = 0
}

func (w *World) addCalm(played []Action) []Action {
	if w.steady == 0 {
		return played
	}
	return append(slices.Clone(played), Action{Do: "calm", Target: strconv.Itoa(w.steady)})
}

// timed is an action that is still to be done.
type timed struct {
	Action

	begins int // the step, or 0 after everything has converged
}

// begin takes the actions of the options.
func (w *World) begin(actions []Action) {
	for _, a := range actions {
		a = a.named(w.options.Controllers...)
		if isFault(a.Do) {
			w.faults = append(w.faults, newFault(a))
			continue
		}
		t := timed{Action: a, begins: a.At}
		if kind := kindOfAction(a.Do); kind != nil && a.At == 0 {
			t.begins = kind.Begins
		}
		w.timed = append(w.timed, t)
	}
	slices.SortStableFunc(w.timed, func(a, b timed) int {
		return cmp.Or(cmp.Compare(min(b.begins, 1), min(a.begins, 1)), cmp.Compare(a.begins, b.begins)) // 0 is last
	})
}

// doDue does the first action whose step has come.
func (w *World) doDue() bool {
	return len(w.timed) > 0 && w.timed[0].begins > 0 && w.timed[0].begins <= len(w.Steps)+1 && w.doFirst()
}

// doNext does the next action now that everything has converged. Faults of earlier steps come first.
func (w *World) doNext() bool {
	if len(w.timed) == 0 || !w.isTime(w.timed[0].begins) {
		return false
	}
	step := w.timed[0].begins
	if slices.ContainsFunc(w.faults, func(f *faultState) bool { return f.left > 0 && f.begins > 0 && (step == 0 || f.begins <= step) }) {
		return false
	}
	for i := range w.timed {
		if step > 0 && w.timed[i].begins == step {
			w.timed[i].begins = 1 // what belongs together is done together
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
	w.missed = ""
	done := w.do(action)
	switch {
	case w.missed != "":
		w.vain = append(w.vain, Vain{action, w.missed})
	case !done && len(w.events) == told:
		w.vain = append(w.vain, Vain{action, w.instead(action.Target)})
	case (action.Do == "quota" || action.Do == refuse) && action.Target != off && action.Detail != off:
		w.refusing = append(w.refusing, action)
	}
	w.flush()
	return true
}
