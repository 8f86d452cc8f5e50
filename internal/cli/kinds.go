package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/metacontroller"
)

// kindsFlag is the value of --kinds: it leaves a program only the operators that it
// names, in the order in which they are declared.
type kindsFlag struct {
	program *Program
	all     []metacontroller.Controller
	chosen  []string
}

// AddKinds adds --kinds. Without it, a program has all of its operators.
func AddKinds(cmd *cobra.Command, p *Program) {
	flag := &kindsFlag{program: p, all: p.declared}
	cmd.Flags().Var(flag, "kinds", "the operators to choose, as in podset,build: some of "+strings.Join(namesOf(p.declared), ",")+" (default all)")
}

// Set chooses the operators in a list that is separated by commas, beside those that
// have been chosen before.
func (f *kindsFlag) Set(list string) error {
	known := namesOf(f.all)
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no operator %q: write some of %s", name, strings.Join(known, ","))
		}
		f.chosen = append(f.chosen, name)
	}
	f.program.controllers = slices.DeleteFunc(slices.Clone(f.all), func(c metacontroller.Controller) bool {
		return !slices.Contains(f.chosen, c.Name())
	})
	return nil
}

// String returns the names that have been chosen.
func (f *kindsFlag) String() string { return strings.Join(f.chosen, ",") }

// Type is what stands for the value in the help.
func (f *kindsFlag) Type() string { return "names" }

// namesOf returns the names of operators.
func namesOf(controllers []metacontroller.Controller) []string {
	names := make([]string, len(controllers))
	for i, controller := range controllers {
		names[i] = controller.Name()
	}
	return names
}
