package page

import (
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/run"
)

// Run is what happened when a scenario was played.
type Run struct {
	run.Run

	Problems []Problem `json:"problems,omitempty"`
	// Command plays the same, once the texts of Unsaved are in files of their names.
	Command string   `json:"command,omitempty"`
	Unsaved []string `json:"unsaved,omitempty"`
}

// Refused is the run of a scenario that has mistakes: there is none.
func Refused(problems []Problem) *Run {
	return &Run{Run: run.Run{Error: problems[0].Message, Outcomes: []run.Outcome{}, Steps: []run.Step{}, Objects: []*run.Object{}}, Problems: problems}
}

// AnyWrong reports whether there is more than warnings.
func AnyWrong(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == Wrong })
}
