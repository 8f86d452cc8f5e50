package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
)

func service(kind string, ports ...any) map[string]any {
	return object("v1", "Service", "s", map[string]any{"spec": map[string]any{"type": kind, "ports": ports}})
}

func port(name string, number int, protocol string) map[string]any {
	return map[string]any{"name": name, "port": number, "protocol": protocol}
}

// editToy changes the spec of the Toy, so that its hook is called.
func editToy(t *testing.T, w *World) {
	t.Helper()
	apply(t, w, `{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {edited: true}}`)
}

// What is stored is stored again as it is, or an InPlace child would be written
// for ever.
func TestDefaultsAreFilledInOnce(t *testing.T) {
	for _, content := range []map[string]any{
		service("NodePort", port("a", 80, "TCP"), port("b", 443, "TCP")), deployment("d", "x", 2),
		object("v1", "Pod", "p", map[string]any{"spec": podSpec("x", "Never")}),
		job(map[string]any{}), statefulSet(map[string]any{}),
	} {
		t.Run(content["kind"].(string), func(t *testing.T) {
			s := emptyStore()
			first, err := put(t, s, parse(t, mustJSON(t, content)))
			require.NoError(t, err)
			before := mustJSON(t, first.Object)
			second, err := s.update(byUser, first.DeepCopy())
			require.NoError(t, err)
			require.JSONEq(t, before, mustJSON(t, second.Object))
		})
	}
}

func TestNodePortsOfAServiceDiffer(t *testing.T) {
	stored, err := put(t, emptyStore(), parse(t, mustJSON(t, service("NodePort", port("a", 80, "TCP"), port("b", 443, "TCP")))))
	require.NoError(t, err)
	ports := stored.Object["spec"].(map[string]any)["ports"].([]any)
	require.NotEqual(t, ports[0].(map[string]any)["nodePort"], ports[1].(map[string]any)["nodePort"])
}

// Dynamic apply makes one port of two protocols the same entry, as soon as it
// merges. The API server then refuses the list.
func TestOnePortOfTwoProtocols(t *testing.T) {
	for strategy, failure := range map[Strategy]string{DynamicApply: `Duplicate value: "53/UDP"`, ServerSideApply: ""} {
		y := newToy(services)
		y.sync = func(request) any {
			return answer(true, service("ClusterIP", port("a", 53, "TCP"), port("b", 53, "UDP")))
		}
		w := y.world(t, func(o *Options) { o.Apply = strategy })
		require.NoError(t, w.Play())
		if failure == "" {
			require.Empty(t, w.Outcomes()[0].Failure, strategy)
			continue
		}
		require.Contains(t, w.Outcomes()[0].Failure, failure, strategy)
	}
}

// By name db-10 stands before db-2; by number it is the last to come and the
// first to go.
func TestStatefulSetCountsBeyondNine(t *testing.T) {
	y := newToy(child("apps/v1", "StatefulSet", "statefulsets", metacontroller.InPlace))
	replicas := 12
	y.sync = func(request) any { return answer(true, statefulSet(map[string]any{"replicas": replicas})) }
	w := y.world(t)
	require.NoError(t, w.Play())
	created := podsInOrder(w, Created, 0)
	require.Len(t, created, 12)
	require.Regexp(t, "-9$", created[9])
	require.Regexp(t, "-10$", created[10])

	replicas = 10
	steps := len(w.Steps)
	editToy(t, w)
	require.NoError(t, w.Play())
	gone := podsInOrder(w, Deleted, steps)
	require.Equal(t, []string{created[11], created[10]}, gone)
}

// A flap that no hook answers to must come to its end, too.
func TestFlapThatNobodyMindsIsOverInTheEnd(t *testing.T) {
	y := newToy(pods)
	y.sync = func(request) any {
		return answer(true, object("v1", "Pod", "p", map[string]any{"spec": podSpec("x:1", "Always")}))
	}
	w := y.world(t, func(o *Options) { o.Faults = []Fault{{What: Flap, Kind: "Pod", Name: "p"}} })
	require.NoError(t, w.Play())
	require.Equal(t, "True", Condition(w.Get(ref("v1", "Pod", "p")), "Ready").Status)
	require.Empty(t, w.UnmetFaults())
}

// Metacontroller takes an answer without children for the wish to have none.
func TestShortAnswerDeletesTheChildren(t *testing.T) {
	for _, short := range []string{`null`, `{}`, `{"status":{}}`, `{"status":{},"children":null}`} {
		y := newToy(configMaps)
		var body any = answer(true, configMap("c", "1"))
		y.sync = func(request) any { return body }
		w := y.world(t)
		require.NoError(t, w.Play())
		require.NotNil(t, w.Get(ref("v1", "ConfigMap", "c")))
		body = short
		editToy(t, w)
		require.NoError(t, w.Play())
		require.Empty(t, w.Outcomes()[0].Failure, short)
		require.Nil(t, w.Get(ref("v1", "ConfigMap", "c")), short)
	}
}
