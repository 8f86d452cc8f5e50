// Package commands has the commands for people who write or try operators. They need no
// cluster, and nothing of them belongs into an image.
package commands

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/simulation"
)

// Operators are those of a program.
type Operators struct {
	// Controllers are their declarations.
	Controllers []metacontroller.Controller
	// Simulation is what their authors tell of them besides.
	Simulation simulation.Kinds
}

// program is what every command works with.
type program struct {
	*cli.Program

	simulation simulation.Kinds
}

// about is what the program's help says of them.
const about = `render, simulate, play, explore, replay, diff, why and manifests need no cluster. new adds
an operator to a project or starts one, and generate writes what deploy/ has of its operators.`

// Run is [cli.Run] for a program that has these commands, too.
func Run(ctx context.Context, name string, operators Operators, args []string, streams cli.Streams) int {
	added := func(shared *cli.Program) []*cobra.Command { return newCommands(&program{shared, operators.Simulation}) }
	return cli.Run(ctx, name, operators.Controllers, cli.Commands{About: about, Groups: groups(), New: added}, args, streams)
}

// The groups in the program's help.
const (
	seeGroup     = "see"
	bugsGroup    = "bugs"
	clusterGroup = "cluster"
	writeGroup   = "write"
)

func groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: seeGroup, Title: "See what a custom resource does, without a cluster:"},
		{ID: bugsGroup, Title: "Find bugs in an operator:"},
		{ID: clusterGroup, Title: "Look into a cluster:"},
		{ID: writeGroup, Title: "Write an operator, and install it:"},
	}
}

func newCommands(p *program) []*cobra.Command {
	return slices.Concat(
		grouped(seeGroup, newRenderCommand(p), newSimulateCommand(p), newPlayCommand(p)),
		grouped(bugsGroup, newExploreCommand(p), newReplayCommand(p)),
		grouped(clusterGroup, newWhyCommand(p), newDiffCommand(p)),
		grouped(writeGroup, newNewCommand(p), newGenerateCommand(p), newManifestsCommand(p)),
	)
}

func grouped(id string, commands ...*cobra.Command) []*cobra.Command {
	for _, command := range commands {
		command.GroupID = id
	}
	return commands
}

// someFiles is an argument check that is a usage error.
func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("%s takes at least one file", cmd.Name())
	}
	return nil
}
