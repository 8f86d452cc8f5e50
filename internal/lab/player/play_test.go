package player

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
)

func TestPlayConverges(t *testing.T) {
	for _, strategy := range []Strategy{DynamicApply, ServerSideApply} {
		y := newToy(deployments, services, configMaps)
		y.sync = func(r request) any {
			status, _ := r.child("Deployment.apps/v1", "web")["status"].(map[string]any)
			service := object("v1", "Service", "web", map[string]any{"spec": map[string]any{
				"type": "NodePort", "selector": map[string]any{"a": "b"}, "ports": []any{map[string]any{"port": 80}},
			}})
			return answer(status["availableReplicas"] == 2.0, deployment("web", "nginx:1", 2), service, configMap("web", "1"))
		}
		w := y.world(t, func(o *Options) { o.Apply = strategy })
		require.NoError(t, w.Play())
		outcome := w.Outcomes()[0]
		require.Equal(t, "True", outcome.Ready)
		require.Equal(t, 3, outcome.Children)
		require.Less(t, len(w.Steps), 9)
		require.Equal(t, `"Deployment has minimum availability."`,
			mustJSON(t, kube.ConditionOf(w.Get(ref("apps/v1", "Deployment", "web")), "Available").Message))
	}
}

func mustJSON(t testing.TB, value any) string {
	encoded, err := json.Marshal(value)
	require.NoError(t, err)
	return string(encoded)
}

func TestTwoRunsAreTheSame(t *testing.T) {
	run := func() string {
		y := newToy(deployments, configMaps)
		y.sync = func(request) any {
			return answer(true, deployment("a", "x:1", 3), deployment("b", "x:1", 3), configMap("c", "1"))
		}
		w := y.world(t, func(o *Options) { o.Actions = []Action{{Do: Flap, Target: "Deployment/a"}} })
		require.NoError(t, w.Play())
		return mustJSON(t, w.Objects()) + mustJSON(t, story(w)) + mustJSON(t, y.bodies)
	}
	first := run()
	for range 5 {
		require.Equal(t, first, run())
	}
}

func TestNoFixedPointNamesWhatChanges(t *testing.T) {
	y := newToy(configMaps)
	y.sync = func(r request) any {
		data, _ := r.child("ConfigMap.v1", "c")["data"].(map[string]any)
		value := "1"
		if data["key"] == "1" {
			value = "2"
		}
		return answer(true, configMap("c", value))
	}
	w := y.world(t, func(o *Options) { o.MaxSteps = 30 })
	err := w.Play()
	require.ErrorContains(t, err, "no fixed point after 30 steps")
	require.ErrorContains(t, err, `ConfigMap/c data.key: 1 -> 2`)
	require.ErrorContains(t, err, `ConfigMap/c data.key: 2 -> 1`)
}

func TestChildThatComesAndGoesIsNoFixedPoint(t *testing.T) {
	y := newToy(configMaps)
	y.sync = func(r request) any {
		if r.child("ConfigMap.v1", "c") != nil {
			return answer(true)
		}
		return answer(true, configMap("c", "1"))
	}
	err := y.world(t).Play()
	require.ErrorContains(t, err, "ConfigMap/c appears")
	require.ErrorContains(t, err, "ConfigMap/c goes")
}

func TestAnswersThatDifferAreNotQuiet(t *testing.T) {
	calls := 0
	y := newToy()
	y.sync = func(request) any { calls++; return fmt.Sprintf(`{"children":[],"status":{}%*s}`, calls, "") }
	require.ErrorContains(t, y.world(t).Play(), "two syncs of the same world have different answers")
}

func TestWriteThatTheServerDropsIsNotQuiet(t *testing.T) {
	y := newToy(deployments)
	y.sync = func(request) any {
		d := deployment("web", "nginx:1", 1)
		d["spec"].(map[string]any)["template"].(map[string]any)["metadata"].(map[string]any)["creationTimestamp"] = nil
		return answer(true, d)
	}
	require.ErrorContains(t, y.world(t).Play(), "writes something that the API server drops")
	require.NoError(t, y.world(t, func(o *Options) { o.Apply = ServerSideApply }).Play(), "server-side apply does not compare")
}

func TestTimersAreWaitedForButNotForEver(t *testing.T) {
	y := newToy()
	var times []time.Duration
	y.sync = func(request) any { a := answer(true); a["resyncAfterSeconds"] = 3600; return a }
	w := y.world(t, func(o *Options) {
		o.Call = func(now time.Time, path string, body []byte) (int, []byte, error) {
			times = append(times, now.Sub(start))
			return y.call(now, path, body)
		}
	})
	require.NoError(t, w.Play())
	require.Equal(t, []time.Duration{time.Second, time.Hour + time.Second}, times[:2])
	require.LessOrEqual(t, len(times), 15, "eleven that lead to nothing are enough")
}

func TestTimerThatLeadsToSomething(t *testing.T) {
	y := newToy(configMaps)
	w := y.world(t)
	y.sync = func(request) any {
		if w.Now().Before(start.Add(time.Minute)) {
			a := answer(false)
			a["resyncAfterSeconds"] = 60
			return a
		}
		return answer(true, configMap("late", "1"))
	}
	require.NoError(t, w.Play())
	require.Equal(t, "True", w.Outcomes()[0].Ready)
	require.NotNil(t, w.Get(ref("v1", "ConfigMap", "late")))
}

// BenchmarkThousandPods plays a custom resource with a thousand Pods of its own.
func BenchmarkThousandPods(b *testing.B) {
	for _, size := range []int{250, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				y := newToy(pods)
				y.sync = func(request) any {
					list := make([]map[string]any, size)
					for i := range list {
						list[i] = object("v1", "Pod", fmt.Sprintf("p-%d", i), map[string]any{"spec": podSpec("x:1", "Always")})
					}
					return answer(true, list...)
				}
				w := y.world(b)
				require.NoError(b, w.Play())
			}
		})
	}
}

func BenchmarkDeployment(b *testing.B) {
	for b.Loop() {
		y := newToy(deployments)
		y.sync = func(request) any { return answer(true, deployment("web", "nginx:1", 3)) }
		require.NoError(b, y.world(b).Play())
	}
}

// TestWhatNothingActsOnIsSaid, once and where it matters: a custom resource that waits for it.
func TestWhatNothingActsOnIsSaid(t *testing.T) {
	const says = "nothing here acts on Route/web: no controller of the simulation writes its status"
	routes := child("net.example.com/v1", "Route", "routes", metacontroller.InPlace)
	for _, ready := range []bool{false, true} {
		y := newToy(routes, deployments, configMaps)
		y.sync = func(request) any {
			web := object("net.example.com/v1", "Route", "web", map[string]any{"spec": map[string]any{"host": "a"}})
			return answer(ready, web, deployment("d", "x:1", 1), configMap("c", "1"))
		}
		w := y.world(t)
		for range 3 {
			w.Step()
		}
		if !ready {
			require.Contains(t, strings.Join(story(w), "\n"), says, "at once")
		}
		require.NoError(t, w.Play())
		require.NoError(t, w.Play())
		var said []string
		for _, step := range w.Steps {
			for _, event := range step.Events {
				if event.Verb == Struck {
					said = append(said, event.Detail)
				}
			}
		}
		if ready {
			require.Empty(t, said)
		} else {
			require.Equal(t, []string{says}, said)
		}
	}
}
