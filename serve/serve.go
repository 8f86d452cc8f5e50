// Package serve is what an image carries: the server alone, of any list of operators. They
// are declared as [metacontroller.Controller]. [operetta.Main] has the same commands, and
// those for people who write or try operators.
//
// [operetta.Main]: https://pkg.go.dev/github.com/operetta-dev/operetta#Main
package serve

import (
	"context"
	"os"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/metacontroller"
)

const about = `This program is the server alone, as an image carries it.`

// Main runs a program with the commands serve, config and version for these operators, and
// exits: with 0 when all is well, 1 when something has failed and 2 for a wrong use of the
// command line. The program's own name stands in what it prints.
func Main(controllers ...metacontroller.Controller) {
	streams := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(cli.Run(context.Background(), cli.NameOf(os.Args[0]), controllers, cli.Commands{About: about}, os.Args[1:], streams))
}
