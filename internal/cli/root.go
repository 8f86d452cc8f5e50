package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/printable"
)

// runGroup has the commands that each program has, which an image needs.
const runGroup = "run"

func newRootCommand(p *Program, more Commands) *cobra.Command {
	versionCommand, asksVersion := newVersionCommand(p), false
	root := &cobra.Command{
		Use:   p.name,
		Short: "Kubernetes operators as pure functions, behind Metacontroller",
		Long: `Operetta serves Kubernetes operators as webhooks: each takes a custom resource
and its observed children, and answers with the desired children and the status.
A Metacontroller in the cluster watches and applies.

` + more.About,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(root *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if similar := root.SuggestionsFor(args[0]); len(similar) > 0 {
				return Usagef("there is no command %q: did you mean %s?", args[0], strings.Join(similar, " or "))
			}
			return Usagef("there is no command %q", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asksVersion {
				return versionCommand.RunE(cmd, nil)
			}
			return cmd.Help()
		},
		SuggestionsMinimumDistance: 2, // letters that are wrong
	}
	root.SetIn(p.In)
	root.SetOut(printable.NewWriter(p.Out)) // cobra quotes an unknown topic
	root.SetErr(p.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	// Not cobra's own, whose template would link text/template, which keeps every method of
	// every type: a quarter of the program.
	root.Flags().BoolVar(&asksVersion, "version", false, "print the version")
	root.AddGroup(more.Groups...)
	root.AddGroup(&cobra.Group{ID: runGroup, Title: "Run it:"})
	root.AddCommand(newServeCommand(p), newConfigCommand(p), versionCommand)
	if more.New != nil {
		root.AddCommand(more.New(p)...)
	}
	root.SetHelpCommandGroupID(runGroup)
	root.SetCompletionCommandGroupID(runGroup)
	for _, cmd := range root.Commands() { // examples must be copyable
		cmd.Example = strings.ReplaceAll(cmd.Example, "  operetta ", "  "+p.name+" ")
	}
	return root
}

// Exactly returns an argument check that is a usage error.
func Exactly(count int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != count {
			return Usagef("%s takes %s", cmd.Name(), what)
		}
		return nil
	}
}
