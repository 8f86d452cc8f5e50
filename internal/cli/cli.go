// Package cli is the command line: it serves any list of operators as webhooks of
// Metacontroller, and shows what they do without a cluster.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/declaration"
	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// Streams are the standard streams.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// program is what every subcommand works with.
type program struct {
	Streams

	name string // the program's name in messages
	// declared are all operators, and controllers those that have been chosen, with
	// their policies.
	declared, controllers []metacontroller.Controller
}

// Program returns the name of a program from the path of its file.
func Program(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

// mostMessage is the size in bytes above which an error is cut.
const mostMessage = 4 << 10

// usageError is a wrong use of the command line.
type usageError struct{ error }

// usagef returns a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Run runs the command line of a program with some operators, and returns the
// exit code. A failure is one line, except for validation errors, which are
// printed as kubectl does, and mistakes in the declarations of operators, which
// have a line each.
func Run(ctx context.Context, name string, controllers []metacontroller.Controller, args []string, streams Streams) int {
	// Output may quote a file or an argument.
	streams.Err = printable.NewWriter(streams.Err)
	root := newRootCommand(&program{Streams: streams, name: name, declared: controllers, controllers: controllers})
	if err := declaration.Check(declarations(root, controllers, args)...); err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(streams.Err, "%s: %s\n", name, strings.TrimSuffix(line, "\n"))
		}
		return exitFailed
	}
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	message := printable.Line(err.Error(), mostMessage)
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintf(streams.Err, "%s: %s (see %s --help)\n", name, message, cmd.CommandPath())
		return exitUsage
	}
	if refused, ok := errors.AsType[invalidError](err); ok {
		refused.print(streams.Err, name)
		return exitFailed
	}
	fmt.Fprintf(streams.Err, "%s: %s\n", name, message)
	return exitFailed
}

// declarations returns the operators as a command reads them. The CRDs that the program carries
// are those of the last time that generate wrote them: it looks for mistakes in the new ones, as
// it would never write them otherwise.
func declarations(root *cobra.Command, controllers []metacontroller.Controller, args []string) []metacontroller.Controller {
	if command, _, err := root.Find(args); err != nil || command.Name() != generateCommand {
		return controllers
	}
	controllers = slices.Clone(controllers)
	for i := range controllers {
		controllers[i].CRD = nil
	}
	return controllers
}
