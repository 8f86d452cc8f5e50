package explore

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/operetta-dev/operetta/internal/report"
)

// Search configures a search for violations.
type Search struct {
	// First is the seed of the first schedule; the others have the following
	// seeds. Schedules is their number; zero plays until the context ends.
	First     uint64
	Schedules int
	// Edits first plays each edit of the schema by itself, on a new and on an
	// existing custom resource.
	Edits bool
}

// Finding is a broken law with the shortest schedule that was found to break it.
type Finding struct {
	Violation
	// Seed is that of the schedule, or zero for an edit by itself.
	Seed uint64
	// Schedule is the minimized schedule, Run its run.
	Schedule Schedule
	Run      *Run
	// Created is the difference in the spec of the created custom resource, or
	// nil if it is that of the file.
	Created map[string]any
}

// minimizing is how often a schedule is played to minimize it.
const minimizing = 600

// Find plays schedules until one breaks a law, and returns what it has found and
// the number of schedules played.
func (s *Scenario) Find(ctx context.Context, search Search) (findings []Finding, played int, err error) {
	if err := s.prepare(ctx); err != nil {
		return nil, 0, err
	}
	if search.Edits {
		if findings, played = s.findByEdits(ctx); len(findings) > 0 {
			return findings, played, nil
		}
	}
	for i := 0; (search.Schedules == 0 || i < search.Schedules) && ctx.Err() == nil; i++ {
		seed := search.First + uint64(i)
		run, schedule, err := s.Chance(seed)
		if err != nil {
			return nil, played, err
		}
		played++
		if run.Broken == nil {
			continue
		}
		run, schedule = s.Minimize(schedule, run.Broken.Law, minimizing)
		broken := cmp.Or(run.Broken, &Violation{Law: "a replay is as the first time", Detail: fmt.Sprintf("seed %d is not", seed)})
		return []Finding{{Violation: *broken, Seed: seed, Schedule: schedule, Run: run}}, played, nil
	}
	return nil, played, nil
}

// findByEdits plays each edit by itself, until one breaks a law.
func (s *Scenario) findByEdits(ctx context.Context) (findings []Finding, played int) {
	for _, field := range s.edits.fields {
		for _, edit := range s.edits.of[field] {
			if ctx.Err() != nil {
				return nil, played
			}
			if !s.Admits(edit.Object()) {
				continue
			}
			for _, live := range []bool{false, true} {
				run := s.PlayEdit(edit, live)
				played++
				if run.Broken == nil {
					continue
				}
				found := Finding{Violation: *run.Broken, Run: run, Schedule: run.played}
				if !live {
					found.Created = edit.Patch()
				}
				return []Finding{found}, played
			}
		}
	}
	return nil, played
}

// Text returns what is broken, the schedule that breaks it and its events, as
// simulate prints them.
func (f Finding) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", f.String())
	(&report.Printer{Out: &b}).Steps(f.Run.World)
	if f.Created != nil {
		fmt.Fprintf(&b, "\nCreated with:\n%s\n", encode(f.Created))
	}
	if len(f.Schedule) > 0 {
		fmt.Fprintf(&b, "\nThe schedule:\n%s\n", f.Schedule)
	}
	return b.String()
}
