// Package explore looks for what operators do wrong when caches are late, writes
// are lost, processes die and people change their minds. It plays schedules in
// package simulate, each decided by a seed, and holds each to what is to be true
// of every operator and to what an operator promises.
//
// After Sieve (what a controller sees late, or never), Acto (edits from the
// schema, and a comparison with a fresh start) and the simulations of
// FoundationDB (a seed decides all).
package explore

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Scenario is what all schedules begin with.
type Scenario struct {
	// Name is what the scenario is called, as its file.
	Name string
	// Controllers are the operators.
	Controllers []metacontroller.Controller
	// Objects are applied first, in JSON: a custom resource and what stands beside
	// it.
	Objects [][]byte
	// Versions are further forms of the custom resource, for edits.
	Versions [][]byte
	// Apply is how Metacontroller applies children.
	Apply simulate.Strategy
	// Call is the way to the hooks, or nil to call them directly. It has no state.
	Call simulate.Call

	fresh  map[string]*rest
	schema *crd.Schema
	edits  *edits
}

// settleSteps is how many steps a world may take to come to rest when nothing
// disturbs it any more.
const settleSteps = 400

// newWorld returns a world of this scenario's operators with nothing in it.
func (s *Scenario) newWorld(late bool) *simulate.World {
	call := s.Call
	if call == nil {
		call = simulate.Direct(s.Controllers...)
	}
	return simulate.New(simulate.Options{
		Controllers: s.Controllers, Call: call, Apply: s.Apply,
		MaxSteps: settleSteps, Late: late,
	})
}

// controllerOf returns the operator of a custom resource, or nil.
func (s *Scenario) controllerOf(apiVersion, kind string) *metacontroller.Controller {
	for i := range s.Controllers {
		if parent := s.Controllers[i].Parent; parent.Kind == kind && parent.APIVersion == apiVersion {
			return &s.Controllers[i]
		}
	}
	return nil
}

func (s *Scenario) promisesOf(kind string) metacontroller.Promises {
	i := slices.IndexFunc(s.Controllers, func(c metacontroller.Controller) bool { return c.Parent.Kind == kind })
	if i < 0 {
		return metacontroller.Promises{}
	}
	return s.Controllers[i].Promises
}

// Parent returns the custom resource of the scenario.
func (s *Scenario) Parent() (simulate.Object, error) {
	for _, text := range s.Objects {
		object, err := simulate.ParseObject(text)
		if err != nil {
			return nil, err
		}
		if s.controllerOf(object.GetAPIVersion(), object.GetKind()) != nil {
			return object, nil
		}
	}
	return nil, fmt.Errorf("%s has no custom resource of a kind that there is an operator for", cmp.Or(s.Name, "the scenario"))
}

// Violation is something that must not be.
type Violation struct {
	// Law is which law or promise is broken, in a few words that are the same
	// whenever it is that one.
	Law string
	// Detail tells how.
	Detail string
}

// String returns both.
func (v *Violation) String() string { return v.Law + ": " + v.Detail }

// Schedule is what happens, in its order.
type Schedule []simulate.Action

// String returns one action per line.
func (s Schedule) String() string {
	lines := make([]string, len(s))
	for i, action := range s {
		lines[i] = action.String()
	}
	return strings.Join(lines, "\n")
}

// ParseSchedule reads what [Schedule.String] returns. Empty lines are left out.
func ParseSchedule(text string) (Schedule, error) {
	var schedule Schedule
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		action, err := simulate.ParseAction(line)
		if err != nil {
			return nil, err
		}
		schedule = append(schedule, action)
	}
	return schedule, nil
}

// encode returns an object's JSON.
func encode(content map[string]any) string {
	text, err := json.Marshal(content)
	if err != nil {
		panic(err) // it was JSON when it came
	}
	return string(text)
}
