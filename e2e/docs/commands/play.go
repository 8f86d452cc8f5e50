//go:build unix

package commands

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Step is something that a page leaves to its reader, or that happens meanwhile.
type Step struct {
	// Before or After is the beginning of the command that it belongs to.
	Before, After string
	// Do does it. It knows what the command has printed, if it is after one.
	Do func(printed string) error
}

// Player runs the commands of pages from top to bottom.
type Player struct {
	Shell *Shell
	// Timeout bounds each command.
	Timeout time.Duration
	// Server is what the pages start and do not end.
	Server *Server
	// Log is told what is run.
	Log func(command Planned, printed string, took time.Duration)
}

// Play runs the commands with the steps between them, which come in the order of the
// commands. It goes on after an error, and returns all of them.
func (p *Player) Play(commands []Planned, steps []Step) error {
	var problems []error
	note := func(c Planned, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %s: %w", c.At(), c.Short(), err))
		}
	}
	next := func(c Planned, beginning func(Step) string, printed string) {
		for len(steps) > 0 && beginning(steps[0]) != "" && strings.HasPrefix(c.Short(), beginning(steps[0])) {
			note(c, steps[0].Do(printed))
			steps = steps[1:]
		}
	}
	for _, c := range commands {
		next(c, func(s Step) string { return s.Before }, "")
		printed, err := p.run(c)
		note(c, err)
		next(c, func(s Step) string { return s.After }, printed)
		if c.Rule.Serves {
			note(c, p.Server.End())
		}
	}
	if len(steps) > 0 {
		problems = append(problems, fmt.Errorf("no command begins with %q", steps[0].Before+steps[0].After))
	}
	return errors.Join(append(problems, p.Server.End())...)
}

// run runs one command, and looks at what comes of it. One that serves runs on in the
// background until the steps after it are done.
func (p *Player) run(c Planned) (printed string, err error) {
	text := c.Text
	if c.Rule.Serves {
		text = "{\n" + text + "\n} &"
	}
	began := time.Now()
	printed, exit, err := p.Shell.Run(text, p.Timeout)
	p.Log(c, printed, time.Since(began))
	if err != nil {
		return printed, fmt.Errorf("%w\n%s", err, printed)
	}
	if exit != c.Rule.Exit {
		return printed, fmt.Errorf("its exit code is %d, and %d is expected:\n%s", exit, c.Rule.Exit, printed)
	}
	if c.Rule.Serves || strings.HasSuffix(c.Short(), "&") {
		return printed, p.Server.Ready()
	}
	switch {
	case c.Rule.Varies != "":
		return printed, nil
	case c.Rule.Among != "":
		return printed, CompareLines(c.Output, printed)
	default:
		return printed, Compare(c.Output, printed)
	}
}
