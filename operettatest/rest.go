package operettatest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/lab/explore"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// strategies are Metacontroller's apply strategies.
var strategies = []player.Strategy{player.DynamicApply, player.ServerSideApply}

// world returns an empty world with all operators. A rollout takes a few steps for each Pod.
func (k kind) world(apply player.Strategy, hookVersion string, actions ...player.Action) *player.World {
	return player.New(player.Options{
		Controllers: k.all, Simulation: k.simulation, Call: player.Direct(k.all...), Apply: apply, HookVersion: hookVersion, MaxSteps: 120, Actions: actions,
	})
}

// casesConverge plays on from each case until nothing changes.
func (k kind) casesConverge(t *testing.T) {
	k.each(t, k.cases, func(t *testing.T, c corpus.Case) {
		if _, err := c.Call(); err != nil || c.Hook != metacontroller.SyncHook {
			t.Skip("nothing comes of it")
		}
		for _, apply := range strategies {
			if !testenv.Often(c.Name+string(apply), 7) {
				continue
			}
			t.Run(string(apply), func(t *testing.T) {
				t.Parallel()
				world := k.world(apply, "v2")
				require.NoError(t, world.Restore(wholeChildren(t, c)), "the API server of a simulation would not have stored it: complete the case")
				advise(t, "say in a child and in the status nothing that differs from call to call")
				require.NoError(t, world.Play())
			})
		}
	})
}

// wholeChildren returns the request with complete children: a case contains
// only the relevant fields, and an API server accepts complete objects only.
func wholeChildren(t testing.TB, c corpus.Case) []byte {
	answer, err := c.Call()
	require.NoError(t, err)
	asked := byRef(childrenOf(t, answer.Body))
	return changed(t, c, func(request object) {
		for _, child := range observedIn(request, "children") {
			fillIn(child, asked[corpus.Ref(child)])
		}
	}).Request
}

// fillIn adds missing members to an object.
func fillIn(to, from object) {
	for name, value := range from {
		inner, isObject := to[name].(object)
		if fromInner, ok := value.(object); ok && isObject {
			fillIn(inner, fromInner)
		} else if to[name] == nil {
			to[name] = value
		}
	}
}

// eachSample tests the samples, each in a parallel subtest.
func (k kind) eachSample(t *testing.T, test func(*testing.T, corpus.Sample)) {
	for _, sample := range k.samples {
		t.Run(sample.Name, func(t *testing.T) {
			t.Parallel()
			test(t, sample)
		})
	}
}

// samplesBecomeReady plays each sample until it is Ready, deletes each child once, and deletes
// the sample, of which nothing may be left. In the inner loop all run the default way, and a
// fifth of them each other way.
func (k kind) samplesBecomeReady(t *testing.T) {
	k.eachSample(t, func(t *testing.T, sample corpus.Sample) {
		for _, apply := range strategies {
			for _, version := range []string{"v1", "v2"} {
				if testenv.Inner() && (apply != player.DynamicApply || version != "v2") && !testenv.Sampled(sample.Name+string(apply)+version, 5) {
					continue
				}
				t.Run(string(apply)+"/"+version, func(t *testing.T) {
					t.Parallel()
					requireLife(t, sample, k.world(apply, version, vanishing(t, sample.Case)...))
				})
			}
		}
	})
}

func requireLife(t *testing.T, sample corpus.Sample, world *player.World) {
	next := advise(t, "correct the sample, or the rule of the CRD that refuses it")
	for _, text := range sample.Objects() {
		require.NoError(t, world.Apply(text))
	}
	next("operetta simulate with the sample shows what happens")
	require.NoError(t, world.Play())
	next("declare the kind of each child in Controller.Children; operetta simulate with the sample shows what is refused")
	require.Empty(t, world.InVain(), "children that were asked for and never came")
	next("operetta simulate with the sample shows what happens")
	for _, outcome := range world.Outcomes() {
		require.Empty(t, outcome.Failure)
		require.Equal(t, "True", outcome.Ready, "%s: %s", outcome.Reason, outcome.Message)
		requireReachable(t, world, outcome.Parent)
	}
	next("own each child, so that the garbage collector deletes it, and answer Finalized once none is left")
	world.DeleteParents()
	require.NoError(t, world.Play())
	for _, left := range world.Objects() {
		require.False(t, world.IsOfParent(left) || world.IsChild(left), "%s %s is left behind", left.GetKind(), left.GetName())
		// The claims of a StatefulSet are meant to outlive it.
		stays := left.GetKind() == "Namespace" || left.GetKind() == "PersistentVolumeClaim"
		require.True(t, len(sample.Beside) > 0 || stays, "%s %s is left behind", left.GetKind(), left.GetName())
	}
}

// requireReachable wants each Service of a custom resource that is Ready to lead to a ready Pod, on a port on
// which that listens.
func requireReachable(t *testing.T, world *player.World, parent Object) {
	for _, child := range world.Owned(parent) {
		if _, selector := selectorOf(child); child.GetKind() == "Service" && len(selector) > 0 {
			require.NotEmpty(t, world.Endpoints(kube.RefOf(child)), "Service/%s leads to no port of a ready Pod", child.GetName())
		}
	}
}

// vanishing returns an action for each child of the first answer.
func vanishing(t *testing.T, c corpus.Case) []player.Action {
	answer, err := c.Call()
	require.NoError(t, err)
	var actions []player.Action
	for _, child := range answer.Children {
		actions = append(actions, player.Action{Do: player.Vanish, Target: child.Kind + "/" + child.Name})
	}
	return actions
}

// samplesSurviveWhatIsLate plays a few schedules of fixed seeds of each sample, with late caches,
// lost writes, edits and faults, and checks the invariants of package explore and the operator's
// invariants. `operetta explore` plays others. In the inner loop it is one small sample.
func (k kind) samplesSurviveWhatIsLate(t *testing.T) {
	schedules := 2
	switch {
	case testenv.Thorough():
		schedules = 4
	case testing.Short():
		schedules = 1
	}
	if testenv.Inner() {
		k.samples = slices.DeleteFunc(slices.Clone(k.samples[:min(1, len(k.samples))]), func(sample corpus.Sample) bool {
			return len(sample.Parent) > 1000
		})
	}
	k.eachSample(t, func(t *testing.T, sample corpus.Sample) {
		for i, apply := range strategies {
			if testing.Short() && (len(sample.Name)+i)%2 > 0 {
				continue // one strategy for each sample
			}
			t.Run(string(apply), func(t *testing.T) {
				t.Parallel()
				scenario := &explore.Scenario{Name: sample.Name, Controllers: k.all, Simulation: k.simulation, Apply: apply, Objects: sample.Objects()}
				findings, played, err := scenario.Find(t.Context(), explore.Search{First: 1, Schedules: schedules})
				require.NoError(t, err)
				for _, finding := range findings {
					t.Errorf("seed %d of `explore`: %s", finding.Seed, finding.Text())
				}
				require.True(t, len(findings) > 0 || played == schedules)
			})
		}
	})
}
