// Command operetta serves Kubernetes operators as webhooks of Metacontroller,
// and shows what they do without a cluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(context.Background(), hooks.All(), os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}))
}

// stdio are the standard streams.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// program is what every subcommand works with.
type program struct {
	stdio

	controllers []metacontroller.Controller
}

// mostMessage is the size in bytes from which on an error is cut.
const mostMessage = 4 << 10

// usageError is a wrong use of the command line.
type usageError struct{ error }

// usagef returns a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run runs the command line and returns the exit code. A failure is told in
// one line, but for what the API server refuses: that is told as kubectl does.
func run(ctx context.Context, controllers []metacontroller.Controller, args []string, streams stdio) int {
	// What is shown may quote a file or an argument.
	streams.err = printable.NewWriter(streams.err)
	root := newRootCommand(&program{stdio: streams, controllers: controllers})
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	message := printable.Line(err.Error(), mostMessage)
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintf(streams.err, "operetta: %s (see %s --help)\n", message, cmd.CommandPath())
		return exitUsage
	}
	if refused, ok := errors.AsType[invalidError](err); ok {
		refused.print(streams.err)
		return exitFailed
	}
	fmt.Fprintf(streams.err, "operetta: %s\n", message)
	return exitFailed
}
