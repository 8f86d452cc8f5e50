// Command prebuild fills the cache of control plane binaries, so that the
// minutes it takes do not count against the time limit of the tests.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/operetta-dev/operetta/e2e/tools"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()

	all := append(tools.ControlPlane(), tools.Nodes()...)
	paths, err := tools.Build(ctx, all...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, tool := range all {
		fmt.Fprintln(os.Stdout, paths[tool])
	}
}
