package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/operetta-dev/operetta/internal/lab/run"
)

// Finding is a broken law with the shortest schedule that was found to break it.
type Finding struct {
	Violation
	// Times is how many schedules have broken it so.
	Times int
	// Seed is that of the schedule, or zero for an edit by itself.
	Seed uint64
	// Schedule is the minimized schedule, Run its run.
	Schedule Schedule
	Run      *Run
	// Created is the difference in the spec of the created custom resource, or
	// nil if it is that of the file.
	Created map[string]any

	edit int // its number, where it is an edit by itself
}

// findings are what a search has found until now, by its cause.
type findings struct {
	mutex sync.Mutex
	of    map[Violation]*group
}

// group is what has one cause: the first, the shortest, and how many there are.
type group struct {
	first, shortest Finding
	times           int
}

// add adds what a schedule has broken. They may come in any order, and make the same of it.
func (f *findings) add(one Finding) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	g := f.of[one.cause()]
	if g == nil {
		g = &group{first: one, shortest: one}
		f.of[one.cause()] = g
	}
	g.times++
	if before(one, g.first) < 0 {
		g.first = one
	}
	if cmp.Or(cmp.Compare(len(one.Schedule), len(g.shortest.Schedule)), before(one, g.shortest)) < 0 {
		g.shortest = one
	}
}

// count returns how many causes there are.
func (f *findings) count() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return len(f.of)
}

// list returns the shortest of each cause, in the order of the first ones.
func (f *findings) list() []Finding {
	groups := slices.SortedFunc(maps.Values(f.of), func(a, b *group) int { return before(a.first, b.first) })
	var list []Finding
	for _, g := range groups {
		g.shortest.Times = g.times
		list = append(list, g.shortest)
	}
	return list
}

// before compares when two are found by a single worker: edits are played first.
func before(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.edit, b.edit))
}

// minimizing is how often a schedule is played to minimize it.
const minimizing = 600

// minimize minimizes the schedule of a seed.
func (f *Finding) minimize(ctx context.Context, s *Scenario) {
	if f.Seed == 0 {
		return
	}
	f.Run, f.Schedule = s.Minimize(ctx, f.Schedule, f.Violation, minimizing)
	f.Violation = *cmp.Or(f.Run.Broken, &Violation{Law: "a replay is as the first time", Detail: fmt.Sprintf("seed %d is not", f.Seed)})
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
