// Command generate prints what deploy/ and the README have of the operators,
// from the list in hooks/ and the types beside it. With --check it writes
// nothing, lists what differs and exits with 1.
//
//	go run ./internal/manifests/generate [--check]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/metacontroller"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, hooks.All()))
}

// run returns the exit code: 0 when all is written or as it should be, 1 when
// it failed or differs, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, controllers []metacontroller.Controller) int {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	check := flags.Bool("check", false, "write nothing, list what differs and exit with 1")
	root := flags.String("root", ".", "the project's root `folder`")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "generate: unknown argument %q\n", flags.Arg(0))
		return 2
	}
	printed, err := prints(ctx, *root, controllers)
	if err == nil {
		if *check {
			err = printed.compare(*root, stdout)
		} else {
			err = printed.write(*root, stdout)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "generate: %s\n", err)
		return 1
	}
	return 0
}
