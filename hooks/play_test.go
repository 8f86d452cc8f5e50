package hooks_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

// enoughSteps is how soon a world must come to rest. A rollout takes a few
// steps for each Pod.
const enoughSteps = 120

// newWorld returns a world in which all operators play along.
func newWorld(apply simulate.Strategy, hookVersion string, faults ...simulate.Fault) *simulate.World {
	return simulate.New(simulate.Options{
		Controllers: hooks.All(), Call: callInProcess, Apply: apply, HookVersion: hookVersion,
		MaxSteps: enoughSteps, Faults: faults,
	})
}

// callInProcess answers as the server would.
func callInProcess(now time.Time, path string, body []byte) (int, []byte, error) {
	for _, controller := range hooks.All() {
		for _, hook := range controller.Hooks() {
			if path != "/"+controller.Name()+"/"+string(hook) {
				continue
			}
			answer, err := controller.Call(hook, now, body)
			switch {
			case metacontroller.IsRequestError(err):
				return http.StatusBadRequest, []byte(err.Error()), nil
			case err != nil:
				return http.StatusInternalServerError, []byte(err.Error()), nil
			}
			return http.StatusOK, answer.Body, nil
		}
	}
	return 0, nil, errors.New("no such hook")
}

// TestCasesComeToRest goes on from every case until nothing changes.
func TestCasesComeToRest(t *testing.T) {
	for _, e := range cases(t) {
		if _, err := e.call(); err != nil || e.hook != metacontroller.SyncHook {
			continue
		}
		for _, apply := range []simulate.Strategy{simulate.DynamicApply, simulate.ServerSideApply} {
			t.Run(e.name+"/"+string(apply), func(t *testing.T) {
				world := newWorld(apply, "v2")
				require.NoError(t, world.Restore(e.request))
				require.NoError(t, world.Play())
			})
		}
	}
}

// TestSamplesBecomeReady plays every sample to Ready, lets each child vanish
// once, and deletes it without a trace.
func TestSamplesBecomeReady(t *testing.T) {
	for _, e := range samples(t) {
		for _, apply := range []simulate.Strategy{simulate.DynamicApply, simulate.ServerSideApply} {
			for _, version := range []string{"v1", "v2"} {
				t.Run(e.name+"/"+string(apply)+"/"+version, func(t *testing.T) {
					requireLife(t, e, newWorld(apply, version, vanishing(t, e)...))
				})
			}
		}
	}
}

func requireLife(t *testing.T, e exchange, world *simulate.World) {
	require.NoError(t, world.Apply(encoded(t, parsed(t, e.request)["parent"].(map[string]any))))
	require.NoError(t, world.Play())
	require.Empty(t, world.UnmetFaults())
	for _, outcome := range world.Outcomes() {
		require.Empty(t, outcome.Failure)
		require.Equal(t, "True", outcome.Ready, "%s: %s", outcome.Reason, outcome.Message)
	}
	world.DeleteParents()
	require.NoError(t, world.Play())
	require.Empty(t, world.Objects())
}

// vanishing returns a fault for each child that is asked for at first.
func vanishing(t *testing.T, e exchange) []simulate.Fault {
	answer, err := e.call()
	require.NoError(t, err)
	var faults []simulate.Fault
	for _, child := range answer.Children {
		fault, err := simulate.ParseFault(simulate.Vanish, child.Kind+"/"+child.Name)
		require.NoError(t, err)
		faults = append(faults, fault)
	}
	return faults
}
