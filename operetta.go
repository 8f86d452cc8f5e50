// Package operetta is the command line of Kubernetes operators that are written as
// pure functions, for any list of them.
//
// An operator is declared as a [metacontroller.Controller]. A program that consists
// of a call of [Main] serves it as a webhook of Metacontroller, and shows what it
// does without a cluster. The package serve has the server alone, for an image.
package operetta

import (
	"context"
	"os"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/commands"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/simulation"
)

// Main runs the command line of a program with these operators, and exits: with 0
// when all is well, 1 when something has failed and 2 for a wrong use of the command
// line. The program's own name stands in what it prints.
func Main(controllers ...metacontroller.Controller) { MainWith(nil, controllers...) }

// MainWith is [Main] for operators of which more is told to explore and simulate than their
// declarations do: their invariants.
func MainWith(kinds simulation.Kinds, controllers ...metacontroller.Controller) {
	operators := commands.Operators{Controllers: controllers, Simulation: kinds}
	streams := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(commands.Run(context.Background(), cli.NameOf(os.Args[0]), operators, os.Args[1:], streams))
}
