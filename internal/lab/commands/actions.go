package commands

import (
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
	written    *[]string
}

// Set implements [pflag.Value]. The text is read once all flags are known.
func (f actionFlag) Set(text string) error {
	*f.written = append(*f.written, f.word+"\x00"+text)
	return nil
}

func (f actionFlag) String() string { return "" }

// Type is what the help shows for the value.
func (f actionFlag) Type() string { return f.form }

// addActions adds a flag for each kind of actions that has one, and one for all others.
func addActions(set *pflag.FlagSet, written *[]string) {
	for _, kind := range player.ActionKinds() {
		if kind.IsFlag {
			set.Var(actionFlag{kind.Name, kind.Form, written}, kind.Name, kind.Does+when(kind))
		}
	}
	set.Var(actionFlag{"", "ACTION", written}, "action", "another action of a schedule; explore --help lists them")
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
func parseActions(written []string) (actions []player.Action, err error) {
	for _, each := range written {
		word, text, _ := strings.Cut(each, "\x00")
		action, err := player.ParseAction(strings.TrimSpace(word + " " + text))
		if word == "" {
			word = "action"
		}
		if err != nil {
			return nil, cli.Usagef("--%s: %w", word, err)
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
