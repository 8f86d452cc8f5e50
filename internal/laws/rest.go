package laws

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// enoughSteps is the limit of steps until a world comes to rest. A rollout
// takes a few steps for each Pod.
const enoughSteps = 120

// Strategies are Metacontroller's apply strategies.
var Strategies = []simulate.Strategy{simulate.DynamicApply, simulate.ServerSideApply}

// NewWorld returns a world with all operators.
func NewWorld(all []metacontroller.Controller, apply simulate.Strategy, hookVersion string, faults ...simulate.Fault) *simulate.World {
	return simulate.New(simulate.Options{
		Controllers: all, Call: simulate.Direct(all...), Apply: apply, HookVersion: hookVersion,
		MaxSteps: enoughSteps, Faults: faults,
	})
}

// ComesToRest plays on from a case until nothing changes.
func ComesToRest(t *testing.T, all []metacontroller.Controller, c corpus.Case) {
	for _, apply := range Strategies {
		if !testenv.Often(c.Name+string(apply), 7) {
			continue
		}
		t.Run(string(apply), func(t *testing.T) {
			t.Parallel()
			world := NewWorld(all, apply, "v2")
			require.NoError(t, world.Restore(WholeChildren(t, c)))
			require.NoError(t, world.Play())
		})
	}
}

// WholeChildren returns the request with complete children: a case contains
// only the relevant fields, and an API server accepts complete objects only.
func WholeChildren(t testing.TB, e corpus.Case) []byte {
	answer, err := e.Call()
	require.NoError(t, err)
	asked := byRef(ChildrenOf(t, answer.Body))
	return changed(t, e, func(request map[string]any) {
		for _, child := range ObservedIn(request, "children") {
			fillIn(child, asked[corpus.Ref(child)])
		}
	})
}

// fillIn adds missing members to an object.
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

// Lives plays a sample to Ready, deletes each child once, and deletes the
// sample, of which nothing may be left.
func Lives(t *testing.T, all []metacontroller.Controller, sample corpus.Sample) {
	for _, apply := range Strategies {
		for _, version := range []string{"v1", "v2"} {
			// In the inner loop all samples run the default way, and a fifth of
			// them each other way.
			if testenv.Inner() && (apply != simulate.DynamicApply || version != "v2") && !testenv.Sampled(sample.Name+string(apply)+version, 5) {
				continue
			}
			t.Run(string(apply)+"/"+version, func(t *testing.T) {
				t.Parallel()
				requireLife(t, sample, NewWorld(all, apply, version, vanishing(t, sample.Case)...))
			})
		}
	}
}

// applySample applies the custom resource and its other objects.
func applySample(t testing.TB, world *simulate.World, sample corpus.Sample) {
	for _, object := range sample.Objects() {
		require.NoError(t, world.Apply(object))
	}
}

func requireLife(t *testing.T, sample corpus.Sample, world *simulate.World) {
	applySample(t, world, sample)
	require.NoError(t, world.Play())
	require.Empty(t, world.UnmetFaults(), "children that were asked for and never came")
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
		require.True(t, len(sample.Beside) > 0 || stays, "%s %s is left behind", object.GetKind(), object.GetName())
	}
}

// vanishing returns a fault for each child of the first answer.
func vanishing(t *testing.T, e corpus.Case) []simulate.Fault {
	answer, err := e.Call()
	require.NoError(t, err)
	var faults []simulate.Fault
	for _, child := range answer.Children {
		fault, err := simulate.ParseFault(simulate.Vanish, child.Kind+"/"+child.Name)
		require.NoError(t, err)
		faults = append(faults, fault)
	}
	return faults
}
