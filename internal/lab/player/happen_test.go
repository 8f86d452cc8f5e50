package player

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
)

// at returns actions that begin a step.
func at(t *testing.T, step int, texts ...string) (list []Action) {
	t.Helper()
	for _, text := range texts {
		action, err := ParseAction(text)
		require.NoError(t, err)
		action.At = step
		list = append(list, action)
	}
	return list
}

// withActions returns a world of one Toy that wants a ConfigMap.
func withActions(t *testing.T, actions []Action, more ...Action) *World {
	t.Helper()
	y := newToy(configMaps)
	y.sync = func(request) any { return answer(true, configMap("c", "1")) }
	return y.world(t, func(o *Options) { o.Actions = append(actions, more...) })
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

	w := withActions(t, at(t, 2, "delete ConfigMap/c"))
	require.NoError(t, w.Play())
	require.Equal(t, []int{2}, stepsOf(w, "ConfigMap/c", Deleted))
	require.NotNil(t, w.Get(ref("v1", "ConfigMap", "c")))

	for _, step := range []int{0, 100} {
		w = withActions(t, at(t, step, "delete ConfigMap/c"))
		require.NoError(t, w.Play())
		require.Equal(t, []int{end + 1}, stepsOf(w, "ConfigMap/c", Deleted), "after everything has converged")
	}
	w = withActions(t, append(at(t, 0, "delete ConfigMap/c"), at(t, 100, "delete ConfigMap/c", "delete ConfigMap/c")...))
	require.NoError(t, w.Play())
	first := stepsOf(w, "ConfigMap/c", Deleted)[0]
	require.Contains(t, w.Steps[first].Events[0].Detail, "refused: ", "what belongs to one step is done together: it is gone")

	w = withActions(t, at(t, 0, "delete Pod/none"))
	require.NoError(t, w.Play())
	require.Equal(t, []Vain{{Action{Do: "delete", Target: "Pod/none"}, "there is no Pod, but objects of the kinds Toy, ConfigMap"}}, w.InVain())

	w = withActions(t, at(t, 3, "restart", "relist Toy"))
	require.NoError(t, w.Play())
	require.Empty(t, w.InVain())
}

// TestTimedActionsWaitForWhatFollows: steps are counted over all that is applied.
func TestTimedActionsWaitForWhatFollows(t *testing.T) {
	w := withActions(t, at(t, 9, "delete ConfigMap/c"), Action{At: 7, Do: Vanish, Target: "ConfigMap/c"})
	require.NoError(t, w.PlayOn())
	require.Empty(t, stepsOf(w, "ConfigMap/c", Deleted))
	require.Equal(t, []Vain{{Action{At: 9, Do: "delete", Target: "ConfigMap/c"}, "it did not come to that"},
		{Action{At: 7, Do: Vanish, Target: "ConfigMap/c"}, "it did not come to that"}}, w.InVain())
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {edited: true}}`)
	require.NoError(t, w.Play())
	deleted := stepsOf(w, "ConfigMap/c", Deleted)
	require.Len(t, deleted, 2)
	require.Empty(t, w.InVain())
}

// TestLateCacheAtAStep: a sync at a step has not heard of the step before.
func TestLateCacheAtAStep(t *testing.T) {
	w := withActions(t, at(t, 2, "sync Toy/t"))
	require.NoError(t, w.Play())
	require.Equal(t, "sync of Toy/t, not having heard that ConfigMap/c exists, Toy/t has changed", w.Steps[1].Events[0].Detail)
}

// TestASyncThatWritesTooLittleIsInVain: nothing of it can crash.
func TestASyncThatWritesTooLittleIsInVain(t *testing.T) {
	for text, missed := range map[string]bool{
		"sync Toy/t crash@1": false, "sync Toy/t crash@0": false, "sync Toy/t crash@7": true, "sync Toy/t refuse@7": true,
		"sync Toy/t lose-status": false, "sync Toy/t 503": false, "sync Toy/t": false,
	} {
		w := withActions(t, at(t, 1, "deliver", text))
		require.NoError(t, w.Play())
		require.Equal(t, missed, len(w.InVain()) == 1, text)
	}
}

// TestMendLeavesWhatIsToCome: it ends what lasts.
func TestMendLeavesWhatIsToCome(t *testing.T) {
	w := withActions(t, at(t, 2, "mend"), Action{Do: Vanish, Target: "ConfigMap/c"})
	require.NoError(t, w.Play())
	require.Len(t, stepsOf(w, "ConfigMap/c", Deleted), 1)
}

// TestPlayedIsASchedule: played without faults and steps it is the same.
func TestPlayedIsASchedule(t *testing.T) {
	w := withActions(t, at(t, 2, "sync Toy/t crash@1", "restart"), Action{Do: Vanish, Target: "ConfigMap/c"})
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

// TestTroubleOfMetacontroller is written without its steps.
func TestTroubleOfMetacontroller(t *testing.T) {
	for text, says := range map[string]string{
		"crash Toy/t": "", "crash Toy/t 9": "the sync writes too little for that", "lose-status Toy/t": "",
		"late-cache Toy/t": "", "late-cache Toy/t@90": "Metacontroller has heard of everything",
		"crash Toy/other": "there is no such object, but Toy/t", "crash ConfigMap/c@9": "there is nothing of it to which that could happen",
		"quota ConfigMap": "", "quota Pod": "nobody creates a Pod after that", "quota ConfigMap@90": "nobody creates a ConfigMap after that",
		"take-name ConfigMap/c": "", "take-name ConfigMap/c@5": "", "take-name ConfigMap/d": "nobody wants that name",
	} {
		action, err := ParseAction(text)
		require.NoError(t, err)
		w := withActions(t, []Action{action})
		_ = w.Play() // nothing may come to rest
		var vain []Vain
		if says != "" {
			vain = []Vain{{action, says}}
		}
		require.Equal(t, vain, w.InVain(), text)
	}
}

// TestFlapInASchedule does one half each time.
func TestFlapInASchedule(t *testing.T) {
	y := newToy(deployments)
	y.sync = func(request) any { return answer(true, deployment("web", "nginx:1", 1)) }
	w := y.world(t, func(o *Options) { o.Late = true })
	isReady := func() bool {
		w.Do(Action{Do: "calm", Target: "9"})
		return strings.Contains(kube.Progress(w.Get(ref("apps/v1", "Deployment", "web"))), "1/1 ready")
	}
	require.True(t, isReady())
	for _, ready := range []bool{false, true, false, true} {
		require.True(t, w.Do(Action{Do: Flap, Target: "Deployment/web"}))
		require.Equal(t, ready, isReady())
	}
	require.True(t, w.Do(Action{Do: Vanish, Target: "Deployment/web"}))
	require.False(t, w.Do(Action{Do: Vanish, Target: "Deployment/web"}), "it is gone")
}

// TestAnImageInASchedule stands for the Pods that run it, as it does in a flag.
func TestAnImageInASchedule(t *testing.T) {
	y := newToy(deployments)
	y.sync = func(request) any { return answer(true, deployment("web", "nginx:1", 1)) }
	w := y.world(t, func(o *Options) { o.Late = true })
	w.Do(Action{Do: "calm", Target: "9"})
	require.True(t, w.Do(Action{Do: Fail, Target: "Image/nginx:1"}))
	require.False(t, w.Do(Action{Do: Fail, Target: "Image/nginx:2"}))
	w.Do(Action{Do: "calm", Target: "9"})
	require.Contains(t, kube.Progress(w.Get(ref("apps/v1", "Deployment", "web"))), "0/1 ready")
}

// TestATakenNameStaysTaken: whoever controls the object exists.
func TestATakenNameStaysTaken(t *testing.T) {
	for _, apply := range []Strategy{DynamicApply, ServerSideApply} {
		y := newToy(configMaps)
		y.sync = func(request) any { return answer(true, configMap("c", "1")) }
		w := y.world(t, func(o *Options) { o.Apply, o.Actions = apply, at(t, 1, "take-name ConfigMap/c") })
		require.NoError(t, w.Play())
		taken := w.Get(ref("v1", "ConfigMap", "c"))
		require.NotNil(t, taken)
		require.True(t, IsStrangers(taken))
		require.False(t, kube.IsOwnedBy(taken, w.Parents()[0]))
		require.NoError(t, w.Delete(kube.RefOf(taken)))
		do(t, w, `edit Toy/t {"spec":{"again":true}}`)
		require.NotNil(t, w.Get(ref("v1", "ConfigMap", "c")))
		require.False(t, IsStrangers(w.Get(ref("v1", "ConfigMap", "c"))))
	}
}

// TestAChildThatBecomesAStrangers while the watch is interrupted: the former owner hears of it when
// Metacontroller syncs everything.
func TestAChildThatBecomesAStrangers(t *testing.T) {
	y, seen := newToy(configMaps), 0
	y.sync = func(r request) any {
		seen = len(r.Children["ConfigMap.v1"])
		return answer(true, configMap("c", "1"))
	}
	w := y.world(t, func(o *Options) { o.Late = true })
	w.Do(Action{Do: "calm", Target: "10"})
	require.Equal(t, 1, seen)
	for _, text := range []string{"take-name ConfigMap/c", "relist ConfigMap"} {
		action, err := ParseAction(text)
		require.NoError(t, err)
		w.Do(action)
	}
	w.Do(Action{Do: "calm", Target: "1"})
	require.Equal(t, 1, seen)
	require.False(t, w.IsCaughtUp())
	require.NoError(t, w.Play())
	require.Zero(t, seen)
	require.True(t, w.IsCaughtUp())
	require.Greater(t, w.Now().Sub(start), 30*time.Minute)
}
