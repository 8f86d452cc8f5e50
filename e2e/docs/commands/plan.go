package commands

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Place is where a command is run.
type Place string

// The places.
const (
	// Offline is TestOffline: no cluster.
	Offline Place = "offline"
	// Live is TestLive in e2e/docs: a real control plane.
	Live Place = "live"
	// Elsewhere is for commands that a test of their own runs, which Reason names.
	Elsewhere Place = "elsewhere"
	// Nowhere is for commands that no test runs, with the reason.
	Nowhere Place = "nowhere"
)

// programs are those that Offline has, and offlinePages the pages whose commands it runs.
var (
	programs     = []string{"bin/operetta", "operetta", "./acme", "curl", "go", "make", "cd", "mkdir"}
	offlinePages = []string{"README.md", "docs/cli.md", "docs/concepts.md", "docs/configuration.md", "docs/diff.md", "docs/examples.md", "docs/getting-started.md", "docs/play.md", "docs/why.md"}
)

// placeOf is where a command runs that no rule is about: one with kubectl needs a cluster, and
// what is beside it on most pages does, too.
func placeOf(c Command) Place {
	text := c.Short()
	switch {
	case !slices.Contains(offlinePages, c.File), strings.Contains(" "+strings.ReplaceAll(text, "(", " "), " kubectl "):
		return Live
	case isKnown(text):
		return Offline
	}
	return ""
}

// isKnown tells whether a line begins with a program of which commands are shown.
func isKnown(line string) bool {
	program, _, hasMore := strings.Cut(strings.TrimPrefix(line, prompt), " ")
	return hasMore && (program == "kubectl" || slices.Contains(programs, program))
}

// Rule is about one command that is not run where its page says, or in another way.
type Rule struct {
	// File and Command say which: Command is the beginning of its Short text, by which no
	// other command of the page begins, or Times as many. A rule with a Heading is about those
	// below it, and without a Command about all of them.
	File, Heading, Command string
	Times                  int
	// Place is where it is run, and Reason why not where its page says.
	Place  Place
	Reason string
	// Exit is the exit code that it must have.
	Exit int
	// Serves says that the command does not end by itself.
	Serves bool
	// Among says why it prints more lines than the page shows, and Varies why nothing of it is
	// compared.
	Among, Varies string
}

// Planned is a command with the place where it is run, and the rule about it, if there is one.
type Planned struct {
	Command

	Place Place
	Rule  Rule
}

// Plan says of each command where it is run.
func Plan(all []Command, rules []Rule) ([]Planned, error) {
	var problems []error
	matched := make([]int, len(rules))
	var plan []Planned
	for _, c := range all {
		p := Planned{Command: c, Place: placeOf(c)}
		found := 0
		for i, r := range rules {
			if r.File == c.File && (r.Heading == "" || r.Heading == c.Heading) && strings.HasPrefix(c.Short(), r.Command) {
				matched[i]++
				found++
				p.Rule = r
				if r.Place != "" {
					p.Place = r.Place
				}
			}
		}
		switch {
		case found > 1:
			problems = append(problems, fmt.Errorf("%s: %d rules are about %s", c.At(), found, c.Short()))
		case p.Place == "":
			problems = append(problems, fmt.Errorf("%s: no test runs %s: write into the rules where it is run, or why it is not", c.At(), c.Short()))
		}
		plan = append(plan, p)
	}
	for i, r := range rules {
		if times := max(r.Times, 1); matched[i] != times && (r.Command != "" || matched[i] == 0) {
			problems = append(problems, fmt.Errorf("the rule about %q in %s is for %d commands, and begins %d", r.Heading+r.Command, r.File, times, matched[i]))
		}
		if (r.Place == Nowhere || r.Place == Elsewhere) && r.Reason == "" {
			problems = append(problems, fmt.Errorf("the rule about %q in %s gives no reason", r.Heading+r.Command, r.File))
		}
	}
	return plan, errors.Join(problems...)
}

// Of returns the commands of a plan that are run in a place.
func Of(plan []Planned, place Place) []Planned {
	return slices.DeleteFunc(slices.Clone(plan), func(p Planned) bool { return p.Place != place })
}
