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
	flags    *exploreFlags
	parts    int
	progress *progress

	report  exploredAll
	told    strings.Builder
	stories map[string]player.Strategy // of the custom resource
}

// exploredAll is what explore prints as data.
type exploredAll struct {
	Explored []exploredPart `json:"explored"`
	// Left is how many custom resources and strategies there was no time for.
	Left int `json:"left,omitempty"`
	// Interrupted is set where somebody has ended it.
	Interrupted bool `json:"interrupted,omitempty"`
}

// exploredPart is a custom resource under a strategy.
type exploredPart struct {
	Source    string         `json:"source"`
	Apply     string         `json:"apply"`
	Schedules int            `json:"schedules"`
	Found     []exploredFind `json:"found"`
}

// exploredFind is a broken law.
type exploredFind struct {
	Law    string `json:"law"`
	Detail string `json:"detail"`
	// Times is how many schedules fail so, and Seed plays the shortest of them as it was before.
	Times int    `json:"times"`
	Seed  uint64 `json:"seed,omitempty"`
	// Schedule has an action an item.
	Schedule []string       `json:"schedule"`
	Created  map[string]any `json:"created,omitempty"`
}

// play explores one custom resource with one strategy.
func (e *exploration) play(ctx context.Context, scenario *explore.Scenario) error {
	search := explore.Search{First: e.flags.seed, Schedules: e.flags.schedules, Edits: e.flags.edits, Tell: e.progress.tell}
	switch {
	case e.flags.schedule != "":
		return e.playSchedule(scenario)
	case e.flags.replay != 0:
		search.First, search.Schedules, search.Edits = e.flags.replay, 1, false
	case e.flags.time > 0:
		search.Schedules, search.Time = 0, max(1, e.flags.time/time.Duration(e.parts))
	}
	e.progress.begin(fmt.Sprintf("%s, %s", scenario.Name, scenario.Apply))
	findings, played, err := scenario.Find(ctx, search)
	e.progress.end()
	if err != nil {
		return err
	}
	if e.flags.output == "text" {
		fmt.Fprintf(printable.NewWriter(e.Out), "= %s, %s: schedules: %d, found: %d\n", scenario.Name, scenario.Apply, played, len(findings))
	}
	if len(findings) > 0 {
		fmt.Fprintf(&e.told, "\n= %s, %s\n", scenario.Name, scenario.Apply)
	}
	part := e.add(scenario, played)
	for _, finding := range findings {
		e.tell(part, finding, scenario.Apply)
		fmt.Fprintf(&e.told, "\nSchedules that fail so: %d of %d.\n", finding.Times, played)
		if finding.Seed != 0 {
			fmt.Fprintf(&e.told, "It is played again by --apply %s --replay %d\n", scenario.Apply, finding.Seed)
		}
	}
	return nil
}

// add adds a custom resource under a strategy to the report.
func (e *exploration) add(scenario *explore.Scenario, played int) *exploredPart {
	e.report.Explored = append(e.report.Explored, exploredPart{Source: scenario.Name, Apply: string(scenario.Apply), Schedules: played, Found: []exploredFind{}})
	return &e.report.Explored[len(e.report.Explored)-1]
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
	run, part := scenario.Play(schedule), e.add(scenario, 1)
	if run.Broken == nil {
		fmt.Fprintf(&e.told, "= %s, %s: nothing is broken\n", scenario.Name, scenario.Apply)
		return nil
	}
	fmt.Fprintf(&e.told, "= %s, %s\n", scenario.Name, scenario.Apply)
	e.tell(part, explore.Finding{Schedule: schedule, Run: run, Violation: *run.Broken, Times: 1}, scenario.Apply)
	return nil
}

// tell tells what is broken and its story, unless that was told for the other strategy.
func (e *exploration) tell(part *exploredPart, finding explore.Finding, apply player.Strategy) {
	find := exploredFind{Law: finding.Law, Detail: finding.Detail, Times: finding.Times, Seed: finding.Seed, Schedule: []string{}, Created: finding.Created}
	for _, action := range finding.Schedule {
		find.Schedule = append(find.Schedule, action.String())
	}
	part.Found = append(part.Found, find)
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
	e.report.Interrupted = ctx.Err() != nil
	found, played := 0, 0
	for _, part := range e.report.Explored {
		found, played = found+len(part.Found), played+part.Schedules
	}
	if e.flags.output != "text" {
		if err := printData(printable.NewWriter(e.Out), e.flags.output, e.report); err != nil {
			return fmt.Errorf("printing what was explored: %w", err)
		}
	} else {
		_, _ = io.WriteString(printable.NewWriter(e.Out), e.told.String())
	}
	switch {
	case found > 0:
		return errors.New("explore has found broken invariants: see above")
	case ctx.Err() != nil:
		return fmt.Errorf("explore was interrupted, and has found nothing until then; schedules: %d", played)
	}
	return nil
}
