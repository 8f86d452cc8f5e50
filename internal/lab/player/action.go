package player

import (
	"fmt"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
)

// Action is one thing that happens in a World whose Metacontroller is late, in
// the form in which it is written: a word and what it concerns.
//
//	calm 3                       three steps in which everybody hears and does all
//	deliver [Pod [all]]          Metacontroller hears of the next change of a Pod, or of all, or of everything
//	relist Pod                   its watch of Pods ends, and it lists them
//	restart                      it begins anew
//	sync PodSet/cache [TROUBLE]  it syncs a custom resource: crash@N, refuse@N, doubt@N, lose-status, 503
//	step Pod/cache-0             the controller of an object, or the kubelet, does its next step
//	hear Pod [all]               the built-in controllers hear of the next change of a Pod, or of all
//	collect                      so does the garbage collector
//	wait 5s, wait timer          time passes
//	create {...}                 a user applies an object
//	edit PodSet/cache {...}      a user edits one, by a merge patch
//	delete PodSet/cache [orphan, foreground]
//	fail, hold, evict Pod/a      as the faults of those names; mend ends those that last
//	drain Pod/a                  it is evicted through the API, if its PodDisruptionBudgets allow it
//	metric web 180               the HorizontalPodAutoscaler web measures 180 % of its target, until it has scaled
//	due CronJob/nightly          its schedule is due; nothing else starts its Jobs
//	quota Pod                    Pods are refused; quota off ends it
type Action struct {
	// Do is the first word.
	Do string
	// Target is the object or kind.
	Target string
	// Detail is what follows.
	Detail string
}

// String returns the form that [ParseAction] reads.
func (a Action) String() string {
	return strings.TrimSpace(strings.Join([]string{a.Do, a.Target, a.Detail}, " "))
}

// ParseAction parses an action. It does not check whether it is possible.
func ParseAction(text string) (Action, error) {
	do, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	a := Action{Do: do}
	switch do {
	case "create":
		a.Detail = strings.TrimSpace(rest)
	case "calm", "deliver", "relist", "restart", "sync", "step", "hear", "collect", "wait", "edit", "delete", "fail", "hold", "evict", "drain", "metric", "due", "mend", "quota":
		target, detail, _ := strings.Cut(strings.TrimSpace(rest), " ")
		a.Target, a.Detail = target, strings.TrimSpace(detail)
	default:
		return a, fmt.Errorf("there is no action %q: it begins with calm, deliver, relist, restart, sync, step, hear, collect, wait, create, edit, delete, fail, hold, evict, drain, metric, due, mend or quota", text)
	}
	if do == "sync" {
		if _, err := composite.ParseFault(a.Detail); err != nil {
			return a, fmt.Errorf("%s: %w", text, err)
		}
	}
	return a, nil
}
