package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/metacontroller"
)

// AddKinds adds --kinds, which leaves a program only the operators that it names, in the order in
// which they are declared. Without it, a program has all of its operators. Call the function that
// it returns when the flags are set.
func AddKinds(cmd *cobra.Command, p *Program) (choose func() error) {
	const flag = "kinds"
	known := namesOf(p.declared)
	list := cmd.Flags().StringSlice(flag, nil, "the operators to choose, as in podset,build: some of "+strings.Join(known, ",")+" (default all)")
	if err := cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return LastOf(begun, known), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}); err != nil {
		panic(err) // the flag is there
	}
	return func() error {
		if !cmd.Flags().Changed(flag) {
			return nil
		}
		for i, name := range *list {
			(*list)[i] = strings.TrimSpace(name)
		}
		unknown := slices.IndexFunc(*list, func(name string) bool { return !slices.Contains(known, name) })
		if unknown >= 0 || len(*list) == 0 {
			return Usagef("--kinds %s: write some of %s", strings.Join(*list, ","), strings.Join(known, ","))
		}
		p.controllers = slices.DeleteFunc(slices.Clone(p.declared), func(c metacontroller.Controller) bool {
			return !slices.Contains(*list, c.Name())
		})
		return nil
	}
}

// LastOf returns how a list with commas may go on: what is written of it, and a word that is not there yet.
func LastOf(begun string, words []string) (lists []string) {
	before := begun[:strings.LastIndexByte(begun, ',')+1]
	for _, word := range words {
		if !slices.Contains(strings.Split(before, ","), word) {
			lists = append(lists, before+word)
		}
	}
	return lists
}

// namesOf returns the names of operators.
func namesOf(controllers []metacontroller.Controller) []string {
	names := make([]string, len(controllers))
	for i, controller := range controllers {
		names[i] = controller.Name()
	}
	return names
}
