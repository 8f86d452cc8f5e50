// Package page serves the page of operetta play: the program plays, the page shows. A
// [Scenario] is all that a link has, and the same scenario is always the same [Run].
package page

import (
	"fmt"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// Scenario is what is played.
type Scenario struct {
	// Apply is the apply strategy; empty is dynamic-apply.
	Apply string `json:"apply,omitempty"`
	// Files are applied in their order, as those of operetta simulate.
	Files []File `json:"files"`
	// Actions are what happens to it.
	Actions []Action `json:"actions,omitempty"`
}

// File is a text of custom resources and other objects in YAML or JSON.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Action is a [player.Action] as it is written.
type Action struct {
	// At is the step that it begins, as in the player.
	At     int    `json:"at,omitempty"`
	Action string `json:"action"`
}

// Problem is a mistake in a scenario.
type Problem struct {
	// File and Action are indexes in the scenario, Line counts from 1 in the file.
	File    *int   `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Action  *int   `json:"action,omitempty"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	// Severity is [Wrong] or [Warning].
	Severity string `json:"severity"`
}

// The severities of a [Problem].
const (
	Wrong   = "error"
	Warning = "warning"
)

// Strategy returns the apply strategy. The error says which there are.
func (s Scenario) Strategy() (player.Strategy, error) {
	switch apply := player.Strategy(s.Apply); apply {
	case "", player.DynamicApply:
		return player.DynamicApply, nil
	case player.ServerSideApply:
		return apply, nil
	}
	return "", fmt.Errorf("apply %q is neither dynamic-apply nor server-side-apply", s.Apply)
}

// Parsed returns the actions as the player has them, and the mistakes in them.
func (s Scenario) Parsed() (actions []player.Action, problems []Problem) {
	for i, a := range s.Actions {
		action, err := player.ParseAction(a.Action)
		if a.At < 0 {
			err = fmt.Errorf("%s: there is no step %d", a.Action, a.At)
		}
		if err != nil {
			problems = append(problems, Problem{Action: &i, Message: err.Error(), Severity: Wrong})
		}
		action.At = max(action.At, a.At)
		actions = append(actions, action)
	}
	return actions, problems
}
