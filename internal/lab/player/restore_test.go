package player

import (
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
)

func TestRestoreBringsRelatedObjectsBack(t *testing.T) {
	y := newToy(configMaps)
	y.sync = func(request) any { return answer(true) }
	w := New(Options{Controllers: y.world(t).options.Controllers, Call: y.call})
	require.NoError(t, w.Restore(toJSON(t, `
parent: {apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t, namespace: ns}}
related: {Pod.v1: {ns/web: {apiVersion: v1, kind: Pod, metadata: {name: web, namespace: ns, ownerReferences: [{apiVersion: v1, kind: X, name: x, uid: u}]}, spec: {containers: [{name: main, image: "x:1"}]}, status: {phase: Succeeded}}}}
`)))
	require.NoError(t, w.Play())
	pod := w.Get(kube.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "web"})
	require.Equal(t, `"Succeeded"`, text(t, pod, "status", "phase"))
	require.Empty(t, pod.GetOwnerReferences())
	require.True(t, w.IsForeign(pod))
}
