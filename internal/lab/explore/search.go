package explore

import (
	"cmp"
	"context"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Search configures a search for violations.
type Search struct {
	// First is the seed of the first schedule; the others have the following
	// seeds. Schedules is their number; zero plays until Time or the context ends.
	First     uint64
	Schedules int
	// Time is after how long no schedule is begun; zero is no limit.
	Time time.Duration
	// Edits first plays each edit of the schema by itself, on a new and on an
	// existing custom resource.
	Edits bool
	// Tell is told how far the search is, after each schedule, or is nil. It is called by one worker at a time.
	Tell func(Progress)
}

// Progress is how far a search is.
type Progress struct {
	// Doing is what it does: edits, schedules, or to shorten what it has found.
	Doing string
	// Done is how many of them are done, and Of how many there are, or zero if that is not known.
	Done, Of int
	// Found is how many causes were found.
	Found int
}

// What a search does.
const (
	PlaysEdits     = "edits"
	PlaysSchedules = "schedules"
	Shortens       = "findings made shorter"
)

// teller returns what is called after each of some.
func (s Search) teller(doing string, of int, all *findings) func() {
	if s.Tell == nil {
		return func() {}
	}
	var mutex sync.Mutex
	done := 0
	return func() {
		mutex.Lock()
		defer mutex.Unlock()
		done++
		s.Tell(Progress{Doing: doing, Done: done, Of: of, Found: all.count()})
	}
}

// Find plays schedules until they or their time end, and returns what it has found, each cause once,
// and the number of schedules played. Where the context ends, that is all that was found until then.
func (s *Scenario) Find(ctx context.Context, search Search) ([]Finding, int, error) {
	limited := ctx
	if search.Time > 0 {
		until, stop := context.WithTimeout(ctx, search.Time)
		defer stop()
		limited = until
	}
	if err := s.prepare(limited); err != nil {
		return nil, 0, err
	}
	all, played := findings{of: map[Violation]*group{}}, 0
	if search.Edits {
		played = s.playEdits(limited, search, &all)
	}
	tell := search.teller(PlaysSchedules, search.Schedules, &all)
	played += eachOf(limited, s, cmp.Or(search.Schedules, math.MaxInt), func(worker *Scenario, n int) {
		seed := search.First + uint64(n)
		if run, schedule := worker.chance(seed); run.Broken != nil {
			all.add(Finding{Violation: *run.Broken, Seed: seed, Schedule: schedule})
		}
		tell()
	})
	list := all.list()
	tell = search.teller(Shortens, len(list), &all)
	eachOf(context.WithoutCancel(ctx), s, len(list), func(worker *Scenario, n int) {
		list[n].minimize(ctx, worker)
		tell()
	})
	return list, played, nil
}

// playEdits plays each edit by itself, and returns the number of schedules played.
func (s *Scenario) playEdits(ctx context.Context, search Search, all *findings) int {
	var edits []Edit
	for _, field := range s.edits.fields {
		edits = append(edits, s.edits.of[field]...)
	}
	var played atomic.Int64
	tell := search.teller(PlaysEdits, len(edits), all)
	eachOf(ctx, s, len(edits), func(worker *Scenario, n int) {
		defer tell()
		if !worker.Admits(edits[n].Object()) {
			return
		}
		for _, live := range []bool{false, true} {
			run := worker.PlayEdit(edits[n], live)
			played.Add(1)
			if run.Broken == nil {
				continue
			}
			one := Finding{Violation: *run.Broken, Run: run, Schedule: run.played, edit: n}
			if !live {
				one.Created = edits[n].Patch()
			}
			all.add(one)
			return
		}
	})
	return int(played.Load())
}

// eachOf plays what the numbers below most stand for, in order, on all processors, until the context
// ends, and returns how many it has played.
func eachOf(ctx context.Context, s *Scenario, most int, play func(worker *Scenario, n int)) int {
	collectLess()
	var mutex sync.Mutex
	begun := 0
	next := func() (n int, more bool) {
		mutex.Lock()
		defer mutex.Unlock()
		if ctx.Err() != nil || begun == most {
			return 0, false
		}
		begun++
		return begun - 1, true
	}
	var workers sync.WaitGroup
	for range min(most, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			worker := *s
			worker.memory = nil
			for n, more := next(); more; n, more = next() {
				play(&worker, n)
			}
		})
	}
	workers.Wait()
	return begun
}

// collectLess lets garbage grow to three times of what is in use, unless GOGC says something else: a
// schedule leaves much, and little of it stays.
var collectLess = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
})
