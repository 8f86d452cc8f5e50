package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/printable"
)

func newRootCommand(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   p.name,
		Short: "Kubernetes operators as pure functions, behind Metacontroller",
		Long: `Operetta serves Kubernetes operators as webhooks: each takes a custom resource
and its observed children, and answers with the desired children and the status.
A Metacontroller in the cluster watches and applies.

render, simulate, explore, replay and manifests need no cluster. new adds an operator
to a project or starts one, and generate writes what deploy/ has of its operators.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(p.In)
	root.SetOut(printable.NewWriter(p.Out)) // cobra quotes an unknown topic
	root.SetErr(p.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newServeCommand(p), newRenderCommand(p), newSimulateCommand(p), newExploreCommand(p), newReplayCommand(p), newManifestsCommand(p), newGenerateCommand(p),
		newConfigCommand(p),
		newNewCommand(p), newVersionCommand(p))
	for _, cmd := range root.Commands() { // examples must be copyable
		cmd.Example = strings.ReplaceAll(cmd.Example, "  operetta ", "  "+p.name+" ")
	}
	return root
}

// exactly returns an argument check that is a usage error.
func exactly(count int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != count {
			return usagef("%s takes %s", cmd.Name(), what)
		}
		return nil
	}
}

// someFiles is an argument check that is a usage error.
func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("%s takes at least one file", cmd.Name())
	}
	return nil
}
