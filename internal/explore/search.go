package explore

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

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
func (s *Scenario) Find(ctx context.Context, search Search) (findings []Finding, count int, err error) {
	if err := s.prepare(ctx); err != nil {
		return nil, 0, err
	}
	if search.Edits {
		if findings, count = s.findByEdits(ctx); len(findings) > 0 {
			return findings, count, nil
		}
	}
	found, played, err := s.findByChance(ctx, search)
	count += played
	if err != nil || found == nil {
		return nil, count, err
	}
	run, schedule := s.Minimize(found.schedule, found.run.Broken.Law, minimizing)
	broken := cmp.Or(run.Broken, &Violation{Law: "a replay is as the first time", Detail: fmt.Sprintf("seed %d is not", found.seed)})
	return []Finding{{Violation: *broken, Seed: found.seed, Schedule: schedule, Run: run}}, count, nil
}

// played is a schedule of a seed that has been played.
type played struct {
	seed     uint64
	run      *Run
	schedule Schedule
	err      error
}

// findByChance plays schedules on all processors, and returns the one of the lowest seed that breaks
// a law, or nil, with the number of schedules up to it.
func (s *Scenario) findByChance(ctx context.Context, search Search) (first *played, count int, err error) {
	collectLess()
	var mutex sync.Mutex
	next := func() (seed uint64, more bool) {
		mutex.Lock()
		defer mutex.Unlock()
		if ctx.Err() != nil || first != nil || search.Schedules > 0 && count == search.Schedules {
			return 0, false
		}
		count++
		return search.First + uint64(count-1), true
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			worker := *s
			worker.memory = nil
			for seed, more := next(); more; seed, more = next() {
				p := &played{seed: seed}
				p.run, p.schedule, p.err = worker.Chance(seed)
				mutex.Lock()
				if (p.err != nil || p.run.Broken != nil) && (first == nil || seed < first.seed) {
					first = p
				}
				mutex.Unlock()
			}
		})
	}
	workers.Wait()
	if first == nil {
		return nil, count, nil
	}
	return first, int(first.seed-search.First) + 1, first.err
}

// collectLess lets garbage grow to four times of what is in use, unless GOGC says something else: a
// schedule leaves much, and little of it stays.
var collectLess = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
})

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
