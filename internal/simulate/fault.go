package simulate

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// FaultKind is what goes wrong.
type FaultKind string

// The faults.
const (
	// Fail keeps an object, and the Pods below it, from becoming ready; what
	// runs to completion fails.
	Fail FaultKind = "fail"
	// Vanish deletes an object by hand once everything has converged.
	Vanish FaultKind = "vanish"
	// Flap makes an object unready twice after everything has converged.
	Flap FaultKind = "flap"
)

const (
	flaps     = 2
	flapSteps = 3
)

// Fault is something that goes wrong with one object.
type Fault struct {
	What FaultKind
	// Object is KIND/NAME, as in Deployment/web.
	Object string

	hit    bool // there has been such an object
	done   bool
	rounds int
	until  int // the step until which a flapping object is unready
}

// ParseFault reads KIND/NAME.
func ParseFault(what FaultKind, text string) (Fault, error) {
	kind, name, found := strings.Cut(text, "/")
	if !found || kind == "" || name == "" {
		return Fault{}, fmt.Errorf("%q is not KIND/NAME, as in Deployment/web", text)
	}
	return Fault{What: what, Object: text}, nil
}

func ref(o *unstructured.Unstructured) string { return o.GetKind() + "/" + o.GetName() }

// isFailing reports whether a fault keeps a Pod, or what owns it, down.
func (w *World) isFailing(pod *unstructured.Unstructured) bool {
	if len(w.faults) == 0 {
		return false
	}
	names := map[string]bool{ref(pod): true}
	for owner := metav1.GetControllerOfNoCopy(pod); owner != nil; {
		names[owner.Kind+"/"+owner.Name] = true
		parent := w.store.get(key{owner.APIVersion, owner.Kind, pod.GetNamespace(), owner.Name})
		if parent == nil {
			break
		}
		owner = metav1.GetControllerOfNoCopy(parent)
	}
	failing := false
	for _, fault := range w.faults {
		if names[fault.Object] {
			fault.hit = true
			failing = failing || fault.What == Fail || fault.What == Flap && w.step < fault.until
		}
	}
	return failing
}

// strike lets the next fault happen that waits for a converged world. It
// reports false when there is none left.
func (w *World) strike() bool {
	for _, fault := range w.faults {
		if fault.done || fault.What == Fail {
			continue
		}
		switch fault.What {
		case Vanish:
			fault.done = true
			for _, k := range w.store.keys() {
				if k.kind+"/"+k.name == fault.Object {
					fault.hit = true
					w.store.delete(k, "deleted by hand")
					return true
				}
			}
		case Flap:
			fault.rounds++
			fault.done = fault.rounds == flaps
			fault.until = w.step + flapSteps
			w.note(Event{Verb: Struck, Detail: fault.Object + " is made to fail for a while"})
			return true
		case Fail:
		}
	}
	return false
}

// UnmetFaults returns the objects of faults that never existed.
func (w *World) UnmetFaults() []string {
	var unmet []string
	for _, fault := range w.faults {
		if !fault.hit {
			unmet = append(unmet, fault.Object)
		}
	}
	return unmet
}
