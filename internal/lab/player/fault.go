package player

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// FaultKind is a kind of fault.
type FaultKind string

// The kinds of faults. A fault of an object that controls Pods applies to its Pods.
const (
	// Fail keeps an object from becoming ready: its Pods crash, or fail if they
	// are not restarted; a load balancer gets no address, a claim no volume.
	Fail FaultKind = "fail"
	// Hold keeps running Pods from becoming ready or done.
	Hold FaultKind = "hold"
	// Vanish deletes an object by hand, once.
	Vanish FaultKind = "vanish"
	// Flap makes Pods not ready and ready again, twice.
	Flap FaultKind = "flap"
	// Evict fails a Pod as a node does that is short of memory, once.
	Evict FaultKind = "evict"
)

const flaps = 2

// Fault applies to the objects of a kind and name, in every namespace.
type Fault struct {
	What FaultKind
	// Kind and Name name the object, as in Deployment/web. The kind Image means all
	// Pods that run an image of that name.
	Kind, Name string
	// Step is the first step with the fault. Zero means the beginning for Fail
	// and Hold, and after everything has converged for the others.
	Step int
}

// String returns the form that [ParseFault] reads.
func (f Fault) String() string {
	if f.Step > 0 {
		return fmt.Sprintf("%s/%s@%d", f.Kind, f.Name, f.Step)
	}
	return f.Kind + "/" + f.Name
}

// action returns what a schedule says instead.
func (f Fault) action() Action {
	do := string(f.What)
	if f.What == Vanish {
		do = "delete"
	}
	return Action{Do: do, Target: f.Kind + "/" + f.Name}
}

// ParseFault reads KIND/NAME or KIND/NAME@STEP. The name of an image may have slashes. The
// error says what to write.
func ParseFault(what FaultKind, text string) (Fault, error) {
	target, step, hasStep := strings.Cut(text, "@")
	fault := Fault{What: what}
	if hasStep {
		number, err := strconv.Atoi(step)
		if err != nil || number < 1 {
			return fault, fmt.Errorf("%q has no step: write KIND/NAME@STEP, as in Deployment/web@3", text)
		}
		fault.Step = number
	}
	kind, name, found := strings.Cut(target, "/")
	if !found || kind == "" || name == "" || kind != "Image" && strings.Contains(name, "/") {
		return fault, fmt.Errorf("%q is no object: write KIND/NAME, as in Deployment/web", text)
	}
	fault.Kind, fault.Name = kind, name
	return fault, nil
}

// FaultTargets are the objects with faults, each as [ParseFault] reads it.
type FaultTargets struct{ Fail, Hold, Vanish, Flap, Evict []string }

// Parse returns the faults. The error says of which kind the wrong one is.
func (f FaultTargets) Parse() ([]Fault, error) {
	var faults []Fault
	for _, group := range []struct {
		what    FaultKind
		targets []string
	}{{Fail, f.Fail}, {Hold, f.Hold}, {Vanish, f.Vanish}, {Flap, f.Flap}, {Evict, f.Evict}} {
		for _, target := range group.targets {
			fault, err := ParseFault(group.what, target)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", group.what, err)
			}
			faults = append(faults, fault)
		}
	}
	return faults, nil
}

func (f Fault) matches(object kube.Object) bool {
	if f.Kind != "Image" {
		return object.GetKind() == f.Kind && object.GetName() == f.Name
	}
	containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "containers")
	return object.GetKind() == "Pod" && slices.ContainsFunc(containers, func(container any) bool {
		fields, _ := container.(map[string]any)
		return fields["image"] == f.Name
	})
}

type faultState struct {
	Fault

	active bool // for those that last
	met    bool // it has found its object
	left   int  // remaining changes of those that end
}

func newFault(fault Fault) *faultState {
	t := &faultState{Fault: fault, left: 1}
	switch {
	case fault.What == Flap:
		t.left = 2 * flaps
	case fault.Step == 0 && (fault.What == Fail || fault.What == Hold):
		t.active, t.left = true, 0
	}
	return t
}

// isStruck reports whether a lasting fault applies to an object, or to what controls it.
func (w *World) isStruck(what string, object kube.Object) bool {
	struck := false
	for _, t := range w.faults {
		if string(t.What) != what || t.met && !t.active {
			continue
		}
		for o := object; o != nil; {
			if t.matches(o) {
				if !t.met && t.active && t.left == 0 {
					w.tell(t.action())
				}
				t.met = true
				struck = struck || t.active
			}
			owner, _ := kube.ControllerOf(o)
			o = w.server.Get(owner)
		}
	}
	return struck
}

// UnmetFaults returns the faults that have found no object, as KIND/NAME.
func (w *World) UnmetFaults() []string {
	var list []string
	for _, t := range w.faults {
		if !t.met {
			list = append(list, t.Kind+"/"+t.Name)
		}
	}
	return list
}
