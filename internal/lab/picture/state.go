package picture

import (
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/operator"
)

// level is how good a state is. Its text is the class in the style sheet.
type level string

const (
	plain   level = "p" // it exists, and that is all
	good    level = "g"
	working level = "w"
	bad     level = "b"
	set     level = "s" // a condition that is True and neither good nor bad
	unset   level = "n" // a condition that is not True
)

// state is a state in words: text is short, and more is a sentence.
type state struct {
	text, more string
	level      level
}

// levels are those of the states of objects.
var levels = map[kube.State]level{kube.Ready: good, kube.Waiting: working, kube.Failing: bad}

// stateOf returns the state of an object, which for a custom resource is in its conditions.
func stateOf(object kube.Object, isParent bool) state {
	text := kube.Progress(object)
	if isParent || text == "" {
		return state{level: plain}
	}
	s := state{text: text, level: levels[kube.StateOf(object)]}
	if share, rest, found := strings.Cut(text, ", "); found && s.level == working && strings.Contains(share, "/") {
		s.text, s.more = share, rest
	}
	return s
}

// conditionsOf returns the types of an object's conditions, Ready first.
func conditionsOf(object kube.Object) []string {
	types := []string{}
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range list {
		condition, _ := item.(map[string]any)
		if name, _ := condition["type"].(string); name == operator.ConditionReady {
			types = append([]string{name}, types...)
		} else if name != "" {
			types = append(types, name)
		}
	}
	return types
}

func conditionState(name string, c kube.Condition) state {
	s := state{text: strings.TrimSpace(c.Status + " " + c.Reason), more: printable.Line(c.Message, 160), level: unset}
	switch {
	case name == operator.ConditionReady && c.Status == "True":
		s.level = good
	case name == operator.ConditionReady:
		s.level = working
	case (name == "Degraded" || name == "Stalled" || name == "Failed") && c.Status == "True":
		s.level = bad
	case c.Status == "True":
		s.level = set
	}
	return s
}
