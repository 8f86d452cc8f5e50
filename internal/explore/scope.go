package explore

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/simulate"
)

// Scope is a small world that is explored exhaustively: every order of the
// actions that are due, with few faults.
type Scope struct {
	// Start is played first.
	Start Schedule
	// Once are actions that may happen once each, at any time and in this
	// order: edits and restarts.
	Once Schedule
	// Troubles is the number of syncs that may have a fault, any of Kinds.
	Troubles int
	Kinds    []string
	// Depth is the maximal number of actions after the start.
	Depth int
}

// Extent is how much of a Scope was explored.
type Extent struct {
	// States are the different ones, Transitions the actions that led to them.
	States, Transitions int
	// Whole is set if everything up to the depth was explored.
	Whole bool
}

// node is a state, represented by the schedule that leads to it.
type node struct {
	schedule Schedule
	once     int // of Scope.Once have happened
	troubles int
	waited   int
}

// Exhaust explores a Scope breadth first, so that the first schedule that
// breaks a law is among the shortest. Each state is also played to rest.
func (s *Scenario) Exhaust(ctx context.Context, scope Scope) (*Finding, Extent) {
	extent := Extent{Whole: true}
	seen := map[uint64]bool{}
	queue := []node{{}}
	for len(queue) > 0 {
		here := queue[0]
		queue = queue[1:]
		if ctx.Err() != nil {
			extent.Whole = false
			break
		}
		run := s.replay(scope.Start, here.schedule)
		key := run.key(here)
		if run.Broken == nil && seen[key] {
			continue
		}
		seen[key] = true
		extent.States++
		next := scope.next(run, here)
		run.settle()
		if run.Broken != nil {
			schedule := append(slices.Clone(scope.Start), here.schedule...)
			return &Finding{Violation: *run.Broken, Schedule: schedule, Run: run}, extent
		}
		extent.Transitions += len(next)
		queue = append(queue, next...)
	}
	return nil, extent
}

// replay plays a schedule without coming to rest.
func (s *Scenario) replay(parts ...Schedule) *Run {
	r := s.begin()
	r.made = map[string]int{}
	for _, part := range parts {
		for _, action := range part {
			if r.Broken == nil {
				r.do(action)
			}
		}
	}
	return r
}

// next returns the successors of a node.
func (scope Scope) next(run *Run, here node) []node {
	if len(here.schedule) >= scope.Depth || run.Broken != nil {
		return nil
	}
	var list []node
	add := func(action simulate.Action, change func(*node)) {
		n := here
		n.schedule = append(slices.Clone(here.schedule), action)
		if change != nil {
			change(&n)
		}
		list = append(list, n)
	}
	for _, action := range run.World.Enabled() {
		if action.Do == "wait" {
			if here.waited < 2 {
				add(action, func(n *node) { n.waited++ })
			}
			continue
		}
		add(action, nil)
		if action.Do == "sync" && here.troubles < scope.Troubles {
			for _, kind := range scope.Kinds {
				action.Detail = kind
				add(action, func(n *node) { n.troubles++ })
			}
		}
	}
	if here.once < len(scope.Once) {
		add(scope.Once[here.once], func(n *node) { n.once++ })
	}
	return list
}

// key identifies a state: the world, what has been made and deleted so far, and
// what may still happen.
func (r *Run) key(n node) uint64 {
	hash := fnv.New64a()
	fmt.Fprintln(hash, r.World.Fingerprint(), n.once, n.troubles, n.waited)
	for _, name := range slices.Sorted(maps.Keys(r.made)) {
		fmt.Fprintln(hash, name, r.made[name])
	}
	return hash.Sum64()
}
