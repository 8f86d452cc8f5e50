package player

import (
	"fmt"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

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
func TestFlapEndsWithoutAnyReaction(t *testing.T) {
	y := newToy(pods)
	y.sync = func(request) any {
		return answer(true, object("v1", "Pod", "p", map[string]any{"spec": podSpec("x:1", "Always")}))
	}
	w := y.world(t, func(o *Options) { o.Actions = []Action{{Do: Flap, Target: "Pod/p"}} })
	require.NoError(t, w.Play())
	require.Equal(t, "True", kube.ConditionOf(w.Get(ref("v1", "Pod", "p")), "Ready").Status)
	require.Empty(t, w.InVain())
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

// TestClusterScopedObjectsOutliveOwnersOfANamespace: the garbage collector does not delete them.
func TestClusterScopedObjectsOutliveOwnersOfANamespace(t *testing.T) {
	y := newToy(configMaps)
	y.sync = func(request) any { return answer(true) }
	w := y.world(t)
	uid := string(w.Get(toyRef).GetUID())
	const owned = `{apiVersion: %s, kind: %s, metadata: {name: x, ownerReferences: [{apiVersion: toys.example.com/v1, kind: Toy, name: t, uid: %s}]}}`
	apply(t, w, fmt.Sprintf(owned, "rbac.authorization.k8s.io/v1", "ClusterRole", uid))
	apply(t, w, fmt.Sprintf(owned, "v1", "Secret", uid))
	require.NoError(t, w.Play())
	w.DeleteParents()
	require.NoError(t, w.Play())
	require.Nil(t, w.Get(toyRef))
	require.Nil(t, w.Get(kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "default", Name: "x"}))
	require.NotNil(t, w.Get(kube.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "x"}))
}

// TestAKindOfTheNameOfABuiltinOne has no controller of Kubernetes: it may have any form.
func TestAKindOfTheNameOfABuiltinOne(t *testing.T) {
	y := newToy(configMaps)
	y.sync = func(request) any { return answer(true) }
	w := y.world(t)
	kinds := []string{"Pod", "PersistentVolumeClaim", "Service", "StatefulSet", "DaemonSet", "Deployment", "ReplicaSet", "Job"}
	for _, kind := range kinds {
		apply(t, w, fmt.Sprintf(`{apiVersion: serving.example.com/v1, kind: %s, metadata: {name: x}, spec: 5, status: 5}`, kind))
	}
	require.NoError(t, w.Play())
	for _, kind := range kinds {
		object := w.Get(kube.Ref{APIVersion: "serving.example.com/v1", Kind: kind, Namespace: "default", Name: "x"})
		require.EqualValues(t, 5, object.Object["spec"], kind)
		require.Empty(t, kube.Progress(object), kind)
	}
}

// TestEmptyClusterIPs is a Service that the API server takes.
func TestEmptyClusterIPs(t *testing.T) {
	y := newToy(services)
	y.sync = func(request) any { return answer(true) }
	w := y.world(t)
	apply(t, w, `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIPs: [], ports: [{port: 80}]}}`)
	require.Equal(t, `["10.96.1.2"]`, text(t, w.Get(kube.Ref{APIVersion: "v1", Kind: "Service", Namespace: "default", Name: "s"}), "spec", "clusterIPs"))
}
