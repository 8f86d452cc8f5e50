package hooks_test

import (
	"testing"

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
		Controllers: hooks.All(), Call: simulate.Direct(hooks.All()...), Apply: apply, HookVersion: hookVersion,
		MaxSteps: enoughSteps, Faults: faults,
	})
}

// TestCasesComeToRest goes on from every case until nothing changes.
func TestCasesComeToRest(t *testing.T) {
	for _, e := range cases(t) {
		if _, err := e.call(); err != nil || e.hook != metacontroller.SyncHook {
			continue
		}
		for _, apply := range []simulate.Strategy{simulate.DynamicApply, simulate.ServerSideApply} {
			if !often(e.name+string(apply), 4) {
				continue
			}
			t.Run(e.name+"/"+string(apply), func(t *testing.T) {
				t.Parallel()
				world := newWorld(apply, "v2")
				require.NoError(t, world.Restore(wholeChildren(t, e)))
				require.NoError(t, world.Play())
			})
		}
	}
}

// wholeChildren returns the request with what its children leave out because the
// hook does not read it: a case shows only what it is about, and an API server
// takes whole objects only.
func wholeChildren(t *testing.T, e exchange) []byte {
	answer, err := e.call()
	require.NoError(t, err)
	asked := map[string]map[string]any{}
	for _, child := range childrenOf(t, answer.Body) {
		asked[refOf(child)] = child
	}
	return changed(t, e, func(request map[string]any) {
		for _, group := range request["children"].(map[string]any) {
			for _, child := range group.(map[string]any) {
				fillIn(child.(map[string]any), asked[refOf(child.(map[string]any))])
			}
		}
	})
}

// fillIn adds the members that an object does not have.
func fillIn(object, from map[string]any) {
	for name, value := range from {
		inner, isMap := object[name].(map[string]any)
		if fromInner, ok := value.(map[string]any); ok && isMap {
			fillIn(inner, fromInner)
		} else if object[name] == nil {
			object[name] = value
		}
	}
}

// TestSamplesBecomeReady plays every sample to Ready, lets each child vanish
// once, and deletes it without a trace.
func TestSamplesBecomeReady(t *testing.T) {
	for _, e := range samples(t) {
		for _, apply := range []simulate.Strategy{simulate.DynamicApply, simulate.ServerSideApply} {
			for _, version := range []string{"v1", "v2"} {
				// In the inner loop each by the default way, and a fifth by each of the others.
				if inner() && (apply != simulate.DynamicApply || version != "v2") && !sampled(e.name+string(apply)+version, 5) {
					continue
				}
				t.Run(e.name+"/"+string(apply)+"/"+version, func(t *testing.T) {
					t.Parallel()
					requireLife(t, e, newWorld(apply, version, vanishing(t, e)...))
				})
			}
		}
	}
}

func requireLife(t *testing.T, e exchange, world *simulate.World) {
	require.NoError(t, world.Apply(encoded(t, parsed(t, e.request)["parent"].(map[string]any))))
	for _, object := range e.company {
		require.NoError(t, world.Apply(object))
	}
	require.NoError(t, world.Play())
	require.Empty(t, world.UnmetFaults())
	for _, outcome := range world.Outcomes() {
		require.Empty(t, outcome.Failure)
		require.Equal(t, "True", outcome.Ready, "%s: %s", outcome.Reason, outcome.Message)
	}
	world.DeleteParents()
	require.NoError(t, world.Play())
	for _, object := range world.Objects() {
		require.False(t, world.IsOfParent(object) || world.IsChild(object), "%s %s is left behind", object.GetKind(), object.GetName())
		// The claims of a StatefulSet are meant to outlive it.
		stays := object.GetKind() == "Namespace" || object.GetKind() == "PersistentVolumeClaim"
		require.True(t, len(e.company) > 0 || stays, "%s %s is left behind", object.GetKind(), object.GetName())
	}
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
