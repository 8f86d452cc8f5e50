// Package cli is what an image needs of the command line: serve, config and version, for
// any list of operators. A program may have more commands, as those of the workbench.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/declaration"
	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Exit codes. The last two are those of commands that compare: they have done their work.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitChanges = 3
	ExitRefused = 4
)

// Streams are the standard streams.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Program is what every subcommand works with.
type Program struct {
	Streams

	name     string    // the program's name in messages
	terminal io.Writer // or nil
	// declared are all operators, and controllers those that have been chosen, with
	// their policies.
	declared, controllers []metacontroller.Controller
}

// Name is what the program is called in messages.
func (p *Program) Name() string { return p.name }

// Terminal returns where a line can be written that is written over later: the standard error if it is a
// terminal, and otherwise nil.
func (p *Program) Terminal() io.Writer { return p.terminal }

// terminalOf returns a stream if it is a terminal, or nil.
func terminalOf(w io.Writer) io.Writer {
	file, isFile := w.(*os.File)
	if !isFile {
		return nil
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return file
}

// Controllers returns the operators that have been chosen, with their policies.
func (p *Program) Controllers() metacontroller.Controllers { return p.controllers }

// NameOf returns the name of a program from the path of its file.
func NameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

// MaxMessage is the size in bytes above which an error is cut.
const MaxMessage = 4 << 10

// usageError is a wrong use of the command line.
type usageError struct{ error }

// Usagef returns an error about a wrong use of the command line.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// ExitError is an error with an exit code of its own. Without an error nothing is printed: the
// output has said it.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the error, or nothing.
func (e ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns the error.
func (e ExitError) Unwrap() error { return e.Err }

// LinesError is an error that is printed in several lines, as kubectl does.
type LinesError []string

// Error returns all in one line.
func (e LinesError) Error() string { return strings.Join(e, " ") }

// Commands are what a program has beside serve, config and version.
type Commands struct {
	// About is what the program's help says of them.
	About string
	// Groups are those in which the program's help lists them, by [cobra.Command.GroupID].
	Groups []*cobra.Group
	// New returns them.
	New func(*Program) []*cobra.Command
}

// WithoutCRDs is an annotation of commands that do not read the CRDs of the operators.
const WithoutCRDs = "operetta.dev/without-crds"

// Run runs the command line of a program with some operators, and returns the
// exit code. A failure is one line, except for a [LinesError] and mistakes in the
// declarations of operators, which have a line each.
func Run(ctx context.Context, name string, controllers []metacontroller.Controller, commands Commands, args []string, streams Streams) int {
	// Output may quote a file or an argument.
	terminal := terminalOf(streams.Err)
	streams.Err = printable.NewWriter(streams.Err)
	root := newRootCommand(&Program{Streams: streams, name: name, terminal: terminal, declared: controllers, controllers: controllers}, commands)
	if err := declaration.Check(declarations(root, controllers, args)...); err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(streams.Err, "%s: %s\n", name, strings.TrimSuffix(line, "\n"))
		}
		return ExitFailed
	}
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitDone
	}
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintf(streams.Err, "%s: %s (see %s --help)\n", name, printable.Line(err.Error(), MaxMessage), cmd.CommandPath())
		return ExitUsage
	}
	exit, hasCode := errors.AsType[ExitError](err)
	if !hasCode {
		exit.Code = ExitFailed
	} else if exit.Err == nil {
		return exit.Code
	}
	lines, ok := errors.AsType[LinesError](err)
	if !ok {
		lines = LinesError{err.Error()}
	}
	lines[0] = name + ": " + lines[0]
	for _, line := range lines {
		fmt.Fprintln(streams.Err, printable.Line(line, MaxMessage))
	}
	return exit.Code
}

// declarations returns the operators as a command reads them. The CRDs that the program carries
// are those of the last time that generate wrote them: it looks for mistakes in the new ones, as
// it would never write them otherwise.
func declarations(root *cobra.Command, controllers []metacontroller.Controller, args []string) []metacontroller.Controller {
	if command, _, err := root.Find(args); err != nil || command.Annotations[WithoutCRDs] == "" {
		return controllers
	}
	return WithoutDefinitions(controllers)
}

// WithoutDefinitions returns operators that know no CRD.
func WithoutDefinitions(controllers []metacontroller.Controller) []metacontroller.Controller {
	controllers = slices.Clone(controllers)
	for i := range controllers {
		controllers[i].CRD = nil
	}
	return controllers
}
