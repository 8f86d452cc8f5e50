package commands

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/player"
)

// actionFlag is a flag that writes an action: what it is given follows the word. All such flags share a list,
// so that the actions stay in their order.
type actionFlag struct {
	word, form string
	given      *[]given
}

// given is what a flag was given. The word is empty for --action.
type given struct{ word, text string }

// Set implements [pflag.Value]. The text is read once all flags are known.
func (f actionFlag) Set(text string) error {
	*f.given = append(*f.given, given{f.word, text})
	return nil
}

func (f actionFlag) String() string { return "" }

// Type is what the help shows for the value.
func (f actionFlag) Type() string { return f.form }

// addActions adds a flag for each kind of actions that has one, and one for all others.
func addActions(set *pflag.FlagSet, all *[]given) {
	for _, kind := range player.ActionKinds() {
		if kind.IsFlag {
			set.Var(actionFlag{kind.Name, kind.Form, all}, kind.Name, kind.Does+when(kind))
		}
	}
	set.Var(actionFlag{"", "ACTION", all}, "action", "another action of a schedule; explore --help lists them")
}

// when says when an action happens that names no step.
func when(kind player.ActionKind) string {
	switch {
	case kind.Begins == 1 || kind.Name == player.Fail || kind.Name == player.Hold:
		return ", from the beginning"
	case kind.Begins > 0:
		return fmt.Sprintf(", at step %d", kind.Begins)
	}
	return ", after all has converged"
}

// parseActions reads what the flags were given. The error names the flag.
func parseActions(all []given) (actions []player.Action, err error) {
	for _, each := range all {
		action, err := player.ParseAction(strings.TrimSpace(each.word + " " + each.text))
		if err != nil {
			return nil, cli.Usagef("--%s: %w", cmp.Or(each.word, "action"), err)
		}
		actions = append(actions, action)
	}
	return actions, nil
}

// listActions returns the actions, one a line, for a help.
func listActions() string {
	var b strings.Builder
	for _, kind := range player.ActionKinds() {
		fmt.Fprintf(&b, "  %s\n      %s\n", strings.TrimSpace(kind.Name+" "+kind.Form), kind.Does)
	}
	return b.String()
}
