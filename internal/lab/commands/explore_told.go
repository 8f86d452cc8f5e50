package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/explore"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/printable"
)

// exploration is a run of explore: a search for each custom resource and strategy, whose findings
// are told when all have ended.
type exploration struct {
	*program
	flags *exploreFlags
	parts int

	found   int
	told    strings.Builder
	stories map[string]player.Strategy // of the custom resource
}

// play explores one custom resource with one strategy.
func (e *exploration) play(ctx context.Context, scenario *explore.Scenario) error {
	search := explore.Search{First: e.flags.seed, Schedules: e.flags.schedules, Edits: e.flags.edits}
	switch {
	case e.flags.schedule != "":
		return e.playSchedule(scenario)
	case e.flags.replay != 0:
		search = explore.Search{First: e.flags.replay, Schedules: 1}
	case e.flags.time > 0:
		search.Schedules, search.Time = 0, max(1, e.flags.time/time.Duration(e.parts))
	}
	findings, played, err := scenario.Find(ctx, search)
	if err != nil {
		return err
	}
	fmt.Fprintf(printable.NewWriter(e.Out), "= %s, %s: schedules: %d, found: %d\n", scenario.Name, scenario.Apply, played, len(findings))
	if len(findings) > 0 {
		fmt.Fprintf(&e.told, "\n= %s, %s\n", scenario.Name, scenario.Apply)
	}
	for _, finding := range findings {
		e.tell(finding, scenario.Apply)
		fmt.Fprintf(&e.told, "\n%d of %d schedules fail so.\n", finding.Times, played)
		if finding.Seed != 0 {
			fmt.Fprintf(&e.told, "It is played again by --apply %s --replay %d\n", scenario.Apply, finding.Seed)
		}
	}
	return nil
}

// playSchedule plays a schedule of a file.
func (e *exploration) playSchedule(scenario *explore.Scenario) error {
	path := e.flags.schedule
	text, err := documents.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--schedule: %w", err)
	}
	schedule, err := explore.ParseSchedule(string(text))
	if err != nil {
		return fmt.Errorf("--schedule: %s: %w", path, err)
	}
	run := scenario.Play(schedule)
	if run.Broken == nil {
		fmt.Fprintf(&e.told, "= %s, %s: nothing is broken\n", scenario.Name, scenario.Apply)
		return nil
	}
	fmt.Fprintf(&e.told, "= %s, %s\n", scenario.Name, scenario.Apply)
	e.tell(explore.Finding{Schedule: schedule, Run: run, Violation: *run.Broken}, scenario.Apply)
	return nil
}

// tell tells what is broken and its story, unless that was told for the other strategy.
func (e *exploration) tell(finding explore.Finding, apply player.Strategy) {
	e.found++
	text := finding.Text()
	if other, known := e.stories[text]; known {
		text = fmt.Sprintf("%s\n\nThe story is the same as with %s.\n", finding.String(), other)
	} else {
		e.stories[text] = apply
	}
	fmt.Fprintf(&e.told, "\n! %s", text)
}

// end prints what was found, and returns what is to be said of it.
func (e *exploration) end(ctx context.Context) error {
	_, _ = io.WriteString(printable.NewWriter(e.Out), e.told.String())
	switch {
	case e.found > 0:
		return errors.New("explore has found broken laws or invariants: see above")
	case ctx.Err() != nil:
		return errors.New("explore was interrupted, and has found nothing until then")
	}
	return nil
}
