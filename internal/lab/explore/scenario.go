// Package explore tests operators against late caches, lost writes, dying
// processes and edits. It plays schedules in package simulate, each generated
// from a seed, and checks each against the laws of all operators and the
// invariants of one.
//
// It follows Sieve (what a controller sees late, or never), Acto (edits from
// the schema, and a comparison with a fresh start) and the simulations of
// FoundationDB (a seed decides everything).
package explore

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/utils/lru"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/simulation"
)

// Scenario is the start of all schedules.
type Scenario struct {
	// Name is what the scenario is called, as its file.
	Name string
	// Controllers are the operators.
	Controllers metacontroller.Controllers
	// Simulation is what their authors tell of them: their invariants.
	Simulation simulation.Kinds
	// Objects are applied first, in JSON: a custom resource and the objects
	// that it works with.
	Objects [][]byte
	// Versions are further forms of the custom resource, for edits.
	Versions [][]byte
	// Apply is Metacontroller's apply strategy.
	Apply player.Strategy
	// Call calls the hooks; nil calls them directly. It must be stateless.
	Call player.Call

	fresh  *lru.Cache     // of string to *rest, shared by all workers
	edits  *edits         // so are they
	memory *player.Memory // of all worlds of one worker
	call   player.Call    // Call, with a memory
}

// mostFresh is how many new custom resources are remembered. One of a DataService has 170 KB.
const mostFresh = 128

// settleSteps is how many steps a world without faults may take to come to
// rest.
const settleSteps = 400

// newWorld returns an empty world with this scenario's operators.
func (s *Scenario) newWorld(late bool) *player.World {
	if s.memory == nil {
		s.memory = player.NewMemory()
		call := s.Call
		if call == nil {
			call = player.Direct(s.Controllers...)
		}
		s.call = remember(call)
	}
	return player.New(player.Options{
		Controllers: s.Controllers, Simulation: s.Simulation, Call: s.call, Apply: s.Apply,
		MaxSteps: settleSteps, Late: late, Memory: s.memory,
	})
}

// controllerOf returns the operator of a custom resource, or nil.
func (s *Scenario) controllerOf(parent kube.Object) *metacontroller.Controller {
	return s.Controllers.Of(parent.GetAPIVersion(), parent.GetKind())
}

// historyOf returns what may depend on the history of a custom resource.
func (s *Scenario) historyOf(parent kube.Object) []simulation.History {
	return s.Simulation[s.controllerOf(parent).Name()].HistoryOf(parent)
}

// Parent returns the custom resource of the scenario.
func (s *Scenario) Parent() (kube.Object, error) {
	for _, text := range s.Objects {
		object, err := kube.ParseObject(text)
		if err != nil {
			return nil, err
		}
		if s.controllerOf(object) != nil {
			return object, nil
		}
	}
	return nil, fmt.Errorf("%s has no custom resource of a kind that there is an operator for", cmp.Or(s.Name, "the scenario"))
}

// Violation is a broken law or invariant.
type Violation struct {
	// Law is the law, or whose invariant it is, always in the same words.
	Law string
	// Detail says how it was broken.
	Detail string

	about string // the same in each violation of one cause
}

// String returns both.
func (v *Violation) String() string { return v.Law + ": " + v.Detail }

// Schedule is a list of actions, in order.
type Schedule []player.Action

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
		action, err := player.ParseAction(line)
		if err != nil {
			return nil, err
		}
		if action.At > 0 {
			return nil, fmt.Errorf("%s: the lines of a schedule happen in their order: leave out @%d", line, action.At)
		}
		schedule = append(schedule, action)
	}
	return schedule, nil
}

// encode returns a value's JSON.
func encode(content any) string {
	text, err := json.Marshal(content)
	if err != nil {
		panic(err) // it was JSON when it came
	}
	return string(text)
}
