package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// chance generates a random schedule while it is played, because only then it
// is known what can happen next.
type chance struct {
	*rand.Rand

	run       *Run
	schedule  Schedule
	lags      map[string]float64 // how likely each sort of action is
	faultRate float64            // how likely a sync has a fault
	before    []map[string]any   // earlier specs of the custom resource
}

// Chance plays the random schedule of a seed, and returns it.
func (s *Scenario) Chance(seed uint64) (*Run, Schedule, error) {
	if err := s.prepare(context.Background()); err != nil {
		return nil, nil, err
	}
	run, schedule := s.chance(seed)
	return run, schedule, nil
}

// chance does so with a scenario that is prepared.
func (s *Scenario) chance(seed uint64) (*Run, Schedule) {
	c := &chance{Rand: rand.New(rand.NewPCG(seed, 0)), run: s.begin(), lags: map[string]float64{}}
	c.faultRate = c.oneOf(0, 0.1, 0.3)
	if c.Float64() < 0.6 {
		c.do(player.Action{Do: "calm", Target: "40"})
	} else {
		c.randomActions(5 + c.IntN(40))
	}
	for range 1 + c.IntN(4) {
		if c.run.Broken != nil {
			break
		}
		c.disturb()
		if c.Float64() < 0.3 {
			c.disturb() // two at once
		}
		c.randomActions(3 + c.IntN(60))
		if c.Float64() < 0.3 {
			c.do(player.Action{Do: "calm", Target: fmt.Sprint(1 + c.IntN(20))})
		}
	}
	c.run.settle()
	return c.run, c.schedule
}

func (c *chance) oneOf(values ...float64) float64 { return values[c.IntN(len(values))] }

// do performs an action, and records it if it had an effect.
func (c *chance) do(action player.Action) bool {
	if c.run.Broken != nil {
		return false
	}
	done := c.run.do(action)
	if done || c.run.Broken != nil || action.Do == "calm" { // time passes even if nothing happens
		c.schedule = append(c.schedule, action)
	}
	return done
}

// randomActions performs some single actions in random order.
func (c *chance) randomActions(actions int) {
	for range actions {
		if c.run.Broken != nil {
			return
		}
		switch roll := c.Float64(); {
		case roll < 0.03:
			c.do(player.Action{Do: "wait", Target: []string{"1s", "6s", "31s", "11m"}[c.IntN(4)]})
		case roll < 0.04:
			c.do(player.Action{Do: "restart"})
		case roll < 0.06:
			c.resync()
		default:
			c.next()
		}
	}
}

// resync syncs a custom resource without a change, or lists a kind.
func (c *chance) resync() {
	for _, parent := range c.run.World.Parents() {
		action := player.Action{Do: "sync", Target: kube.RefOf(parent).String()}
		if c.IntN(3) == 0 {
			action = player.Action{Do: "relist", Target: parent.GetKind()}
			if owned := c.run.World.Owned(parent); len(owned) > 0 && c.IntN(3) > 0 {
				action.Target = owned[c.IntN(len(owned))].GetKind()
			}
		}
		c.do(action)
	}
}

// next performs one of the actions that are due.
func (c *chance) next() {
	enabled := c.run.World.Enabled()
	total := 0.0
	for _, action := range enabled {
		total += c.weight(action)
	}
	roll := c.Float64() * total
	for _, action := range enabled {
		if roll -= c.weight(action); roll < 0 {
			c.do(c.withFault(action))
			return
		}
	}
}

// weight says how likely an action is next.
func (c *chance) weight(action player.Action) float64 {
	switch action.Do {
	case "deliver", "hear", "collect":
		return c.lag(action.Do + " " + action.Target)
	case "step":
		kind, _, _ := strings.Cut(action.Target, "/")
		return c.lag("step " + kind)
	case "sync":
		return 2
	case "wait":
		return 0.2
	default:
		return 1
	}
}

// lag says how likely actions of a sort are next. It is fixed for a schedule: a
// watch, or a controller, may be slow for long.
func (c *chance) lag(what string) float64 {
	if _, known := c.lags[what]; !known {
		c.lags[what] = c.oneOf(0.03, 0.3, 1, 3)
	}
	return c.lags[what]
}

// withFault may add a fault to a sync, or deliver more than one change.
func (c *chance) withFault(action player.Action) player.Action {
	switch {
	case (action.Do == "deliver" || action.Do == "hear") && c.IntN(2) == 0:
		action.Detail = "all"
	case action.Do == "sync" && c.Float64() < c.faultRate:
		write := c.IntN(4)
		action.Detail = []string{
			fmt.Sprintf("crash@%d", write), fmt.Sprintf("refuse@%d", 1+write), fmt.Sprintf("doubt@%d", 1+write), "lose-status", "503",
		}[c.IntN(5)]
	}
	return action
}

// pick returns a random object that a person may change: a child, or a Pod of
// one.
func (c *chance) pick(keep func(kube.Object) bool) kube.Object {
	objects := slices.DeleteFunc(c.run.World.Objects(), func(object kube.Object) bool { return !keep(object) })
	if len(objects) == 0 {
		return nil
	}
	return objects[c.IntN(len(objects))]
}
