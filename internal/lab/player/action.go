package player

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Action is one thing that happens in a [World]: to objects, to the built-in controllers or to
// Metacontroller. Flags of simulate, the lines of a schedule and the buttons of the page write it.
// [ActionKinds] lists them.
type Action struct {
	// At is the step that it begins, in a World that plays by itself. Zero is that of its kind, and
	// a step that does not come by itself is after everything has converged.
	At int
	// Do is the name of an [ActionKind].
	Do string
	// Target is the object, as in Deployment/web, or what else it is about.
	Target string
	// Detail is what follows.
	Detail string
}

// String returns the form that [ParseAction] reads.
func (a Action) String() string {
	do, target := a.Do, a.Target
	switch {
	case a.At > 0 && target != "":
		target = fmt.Sprintf("%s@%d", target, a.At)
	case a.At > 0:
		do = fmt.Sprintf("%s@%d", do, a.At)
	}
	words := slices.DeleteFunc([]string{do, target, a.Detail}, func(word string) bool { return word == "" })
	return strings.Join(words, " ")
}

// now returns the action without its step.
func (a Action) now() Action {
	a.At = 0
	return a
}

// ParseAction parses an action, as in "fail Deployment/web@3": the step stands behind the target, or
// behind the first word where there is none. The error says what to write. Whether the action is possible is
// known only when it is done.
func ParseAction(text string) (Action, error) {
	do, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	do, at, err := cutStep(do)
	if err != nil {
		return Action{}, err
	}
	kind := kindOfAction(do)
	if kind == nil {
		return Action{Do: do}, fmt.Errorf("there is no action %q: it begins with %s", do, strings.Join(actionWords(), ", "))
	}
	a := Action{At: at, Do: do, Detail: strings.TrimSpace(rest)}
	if kind.Form == "" || kind.Form == objectJSON {
		return a, nil
	}
	target, detail, _ := strings.Cut(a.Detail, " ")
	if a.Target, at, err = cutStep(target); err != nil {
		return a, err
	}
	a.At, a.Detail = max(a.At, at), strings.TrimSpace(detail)
	a = a.named()
	return a, kind.check(a)
}

// named returns the action with the kind of its target where that is written as kubectl takes it, too: in the
// plural or short.
func (a Action) named(controllers ...metacontroller.Controller) Action {
	kind := kindOfAction(a.Do)
	word, name, hasName := strings.Cut(a.Target, "/")
	if kind == nil || !strings.HasPrefix(kind.Form, "KIND") || word == "" || unicode.IsUpper(rune(word[0])) {
		return a
	}
	a.Target = kube.KindNamed(word, controllers...)
	if hasName {
		a.Target += "/" + name
	}
	return a
}

// cutStep cuts @STEP off. The digest of an image is none.
func cutStep(text string) (before string, step int, err error) {
	at := strings.LastIndex(text, "@")
	if at < 0 {
		return text, 0, nil
	}
	step, err = strconv.Atoi(text[at+1:])
	switch {
	case err == nil && step > 0:
		return text[:at], step, nil
	case err != nil && strings.HasPrefix(text, image+"/"):
		return text, 0, nil
	}
	return text, 0, fmt.Errorf("%q has no step: write KIND/NAME@STEP, as in Deployment/web@3", text)
}

// check refuses what can never be done.
func (k *ActionKind) check(a Action) error {
	if strings.HasPrefix(k.Form, anObject) {
		of, name, found := strings.Cut(a.Target, "/")
		if !found || of == "" || name == "" || of != image && strings.Contains(name, "/") {
			return fmt.Errorf("%q is no object: write KIND/NAME, as in Deployment/web", a.Target)
		}
		if k.Kinds != nil && !slices.Contains(k.Kinds, of) {
			return fmt.Errorf("%s is for %s, not for a %s", k.Name, strings.Join(k.Kinds, ", "), of)
		}
	}
	switch {
	case k.Details != nil && a.Detail != "":
		return k.checkDetail(a)
	case k.Name == "edit" && a.Detail == "":
		return fmt.Errorf(`edit %s has no patch: write one in JSON, as in edit %s {"spec":{"replicas":3}}`, a.Target, a.Target)
	case k.Name == "sync":
		if _, err := composite.ParseFault(a.Detail); err != nil {
			return fmt.Errorf("%s: %w", a, err)
		}
	}
	return nil
}

func (k *ActionKind) checkDetail(a Action) error {
	var names []string
	for _, detail := range k.Details {
		if detail.Name != a.Detail {
			names = append(names, detail.Name)
			continue
		}
		if of, _, _ := strings.Cut(a.Target, "/"); detail.Kinds != nil && !slices.Contains(detail.Kinds, of) {
			return fmt.Errorf("%s: %s is for %s, not for a %s", a, a.Detail, strings.Join(detail.Kinds, ", "), of)
		}
		return nil
	}
	return fmt.Errorf("%s: there is no %q: write %s", k.Name, a.Detail, strings.Join(names, ", "))
}
