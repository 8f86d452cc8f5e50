package player

import (
	"errors"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
)

// timed returns actions, each with its step.
func timed(t *testing.T, at int, texts ...string) (list []Timed) {
	t.Helper()
	for _, text := range texts {
		action, err := ParseAction(text)
		require.NoError(t, err)
		list = append(list, Timed{at, action})
	}
	return list
}

// withActions returns a world of one Toy that wants a ConfigMap.
func withActions(t *testing.T, actions []Timed, faults ...Fault) *World {
	t.Helper()
	y := newToy(configMaps)
	y.sync = func(request) any { return answer(true, configMap("c", "1")) }
	return y.world(t, func(o *Options) { o.Actions, o.Faults = actions, faults })
}

// stepsOf returns the steps with an event about an object of a name, by verb.
func stepsOf(w *World, name string, verb Verb) (list []int) {
	for _, step := range w.Steps {
		for _, event := range step.Events {
			if event.Object != nil && kube.RefOf(event.Object).String() == name && event.Verb == verb {
				list = append(list, step.Number)
			}
		}
	}
	return list
}

func TestTimedActions(t *testing.T) {
	quiet := withActions(t, nil)
	require.NoError(t, quiet.Play())
	end := len(quiet.Steps)

	w := withActions(t, timed(t, 2, "delete ConfigMap/c"))
	require.NoError(t, w.Play())
	require.Equal(t, []int{2}, stepsOf(w, "ConfigMap/c", Deleted))
	require.NotNil(t, w.Get(ref("v1", "ConfigMap", "c")))

	for _, at := range []int{0, 100} {
		w = withActions(t, timed(t, at, "delete ConfigMap/c"))
		require.NoError(t, w.Play())
		require.Equal(t, []int{end + 1}, stepsOf(w, "ConfigMap/c", Deleted), "after everything has converged")
	}
	w = withActions(t, append(timed(t, 0, "delete ConfigMap/c"), timed(t, 100, "delete ConfigMap/c", "delete ConfigMap/c")...))
	require.NoError(t, w.Play())
	first := stepsOf(w, "ConfigMap/c", Deleted)[0]
	require.Contains(t, w.Steps[first].Events[0].Detail, "refused: ", "what belongs to one step is done together: it is gone")

	w = withActions(t, timed(t, 0, "delete Pod/none"))
	require.NoError(t, w.Play())
	require.Equal(t, []Action{{Do: "delete", Target: "Pod/none"}}, w.InVain())

	w = withActions(t, timed(t, 3, "restart", "relist Toy"))
	require.NoError(t, w.Play())
	require.Empty(t, w.InVain())
}

// TestTimedActionsWaitForWhatFollows: steps are counted over all that is applied.
func TestTimedActionsWaitForWhatFollows(t *testing.T) {
	w := withActions(t, timed(t, 9, "delete ConfigMap/c"), Fault{What: Vanish, Kind: "ConfigMap", Name: "c", Step: 7})
	require.NoError(t, w.PlayOn())
	require.Empty(t, stepsOf(w, "ConfigMap/c", Deleted))
	require.Equal(t, []Action{{Do: "delete", Target: "ConfigMap/c"}}, w.InVain())
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {edited: true}}`)
	require.NoError(t, w.Play())
	deleted := stepsOf(w, "ConfigMap/c", Deleted)
	require.Len(t, deleted, 2)
	require.Empty(t, w.InVain())
}

// TestLateCacheAtAStep: a sync at a step has not heard of the step before.
func TestLateCacheAtAStep(t *testing.T) {
	w := withActions(t, timed(t, 2, "sync Toy/t"))
	require.NoError(t, w.Play())
	require.Equal(t, "sync of Toy/t, not having heard that ConfigMap/c exists, Toy/t has changed", w.Steps[1].Events[0].Detail)
}

// TestASyncThatWritesTooLittleIsInVain: nothing of it can crash.
func TestASyncThatWritesTooLittleIsInVain(t *testing.T) {
	for text, missed := range map[string]bool{
		"sync Toy/t crash@1": false, "sync Toy/t crash@0": false, "sync Toy/t crash@7": true, "sync Toy/t refuse@7": true,
		"sync Toy/t lose-status": false, "sync Toy/t 503": false, "sync Toy/t": false,
	} {
		w := withActions(t, timed(t, 1, "deliver", text))
		require.NoError(t, w.Play())
		require.Equal(t, missed, len(w.InVain()) == 1, text)
	}
}

// TestMendLeavesWhatIsToCome: it ends what lasts.
func TestMendLeavesWhatIsToCome(t *testing.T) {
	w := withActions(t, timed(t, 2, "mend"), Fault{What: Vanish, Kind: "ConfigMap", Name: "c"})
	require.NoError(t, w.Play())
	require.Len(t, stepsOf(w, "ConfigMap/c", Deleted), 1)
}

// TestPlayedIsASchedule: played without faults and steps it is the same.
func TestPlayedIsASchedule(t *testing.T) {
	w := withActions(t, timed(t, 2, "sync Toy/t crash@1", "restart"), Fault{What: Vanish, Kind: "ConfigMap", Name: "c"})
	require.NoError(t, w.Play())
	y := newToy(configMaps)
	y.sync = func(request) any { return answer(true, configMap("c", "1")) }
	again := y.world(t, func(o *Options) { o.Late = true })
	for _, action := range w.Played() {
		again.Do(action)
	}
	require.NoError(t, again.Play())
	require.Equal(t, told(w, "ConfigMap/c"), told(again, "ConfigMap/c"))
}

func TestStopEndsPlay(t *testing.T) {
	stop := errors.New("enough")
	y := newToy()
	y.sync = func(request) any { return answer(true) }
	w := y.world(t, func(o *Options) { o.Stop = func() error { return stop } })
	require.ErrorIs(t, w.Play(), stop)
}

func TestNoValueOfASecretIsADifference(t *testing.T) {
	w := newToy().world(t)
	apply(t, w, `{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: c2VjcmV0}}`)
	apply(t, w, `{apiVersion: v1, kind: Secret, metadata: {name: s, labels: {x: z}}, data: {a: b3RoZXI=, b: bmV3}}`)
	w.flush()
	var paths []string
	for _, event := range w.Steps[0].Events {
		paths = append(paths, event.Paths()...)
	}
	require.Equal(t, []string{"data.a: (hidden) -> (hidden)", "data.b: (none) -> (hidden)", "metadata.labels: (none) -> {\"x\":\"z\"}"}, paths)
}
