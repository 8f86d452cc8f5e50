package explore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/operetta-dev/operetta/internal/lab/run"
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

// findByChance plays schedules, and returns the one of the lowest seed that breaks a law, or nil,
// with the number of schedules up to it.
func (s *Scenario) findByChance(ctx context.Context, search Search) (first *played, count int, err error) {
	most := cmp.Or(search.Schedules, math.MaxInt)
	first, count = firstOf(ctx, s, most, func(worker *Scenario, n int) *played {
		p := &played{seed: search.First + uint64(n)}
		p.run, p.schedule, p.err = worker.Chance(p.seed)
		if p.err == nil && p.run.Broken == nil {
			return nil
		}
		return p
	})
	if first == nil {
		return nil, count, nil
	}
	return first, count, first.err
}

// firstOf plays what the numbers below most stand for, in order, on all processors, until something
// is found or the context ends. It returns what the lowest number has found, or nil, and how many
// numbers there were up to it.
func firstOf[T any](ctx context.Context, s *Scenario, most int, play func(worker *Scenario, n int) *T) (first *T, count int) {
	collectLess()
	var mutex sync.Mutex
	begun, lowest := 0, most
	next := func() (n int, more bool) {
		mutex.Lock()
		defer mutex.Unlock()
		if ctx.Err() != nil || first != nil || begun == most {
			return 0, false
		}
		begun++
		return begun - 1, true
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			worker := *s
			worker.memory = nil
			for n, more := next(); more; n, more = next() {
				found := play(&worker, n)
				mutex.Lock()
				if found != nil && n < lowest {
					first, lowest = found, n
				}
				mutex.Unlock()
			}
		})
	}
	workers.Wait()
	if first == nil {
		return nil, begun
	}
	return first, lowest + 1
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
	var edits []Edit
	for _, field := range s.edits.fields {
		edits = append(edits, s.edits.of[field]...)
	}
	plays := make([]int, len(edits))
	first, count := firstOf(ctx, s, len(edits), func(worker *Scenario, n int) *Finding {
		edit := edits[n]
		if !worker.Admits(edit.Object()) {
			return nil
		}
		for _, live := range []bool{false, true} {
			run := worker.PlayEdit(edit, live)
			plays[n]++
			if run.Broken == nil {
				continue
			}
			found := &Finding{Violation: *run.Broken, Run: run, Schedule: run.played}
			if !live {
				found.Created = edit.Patch()
			}
			return found
		}
		return nil
	})
	for _, n := range plays[:count] {
		played += n
	}
	if first == nil {
		return nil, played
	}
	return []Finding{*first}, played
}

// Text returns what is broken, the schedule that breaks it and its events, as
// simulate prints them.
func (f Finding) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", f.String())
	(&run.Printer{Out: &b}).Steps(f.Run.World)
	if f.Created != nil {
		fmt.Fprintf(&b, "\nCreated with:\n%s\n", encode(f.Created))
	}
	if len(f.Schedule) > 0 {
		fmt.Fprintf(&b, "\nThe schedule:\n%s\n", f.Schedule)
	}
	return b.String()
}
