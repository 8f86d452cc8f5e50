package apiserver

import (
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestEphemeralContainersAreAddedOnce(t *testing.T) {
	s := emptyServer()
	web, err := put(t, s, parse(t, `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: main, image: "x:1"}]}}`))
	require.NoError(t, err)
	add := func(pod kube.Ref, name, target string) error {
		c := corev1.EphemeralContainer{TargetContainerName: target}
		c.Name, c.Image = name, "tools:1"
		return s.AddEphemeralContainer(ByKubernetes, pod, c)
	}
	require.NoError(t, add(kube.RefOf(web), "a", "main"))
	require.JSONEq(t, `[{"name":"a","image":"tools:1","imagePullPolicy":"IfNotPresent","resources":{},"targetContainerName":"main",
		"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}]`,
		text(t, s.Get(kube.RefOf(web)), "spec", "ephemeralContainers"))
	require.EqualValues(t, 2, s.Get(kube.RefOf(web)).GetGeneration())

	require.EqualError(t, add(kube.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "other"}, "a", ""), `Error from server (NotFound): pods "other" not found`)
	const invalid = `The Pod "web" is invalid: spec.ephemeralContainers`
	require.EqualError(t, add(kube.RefOf(web), "a", ""), invalid+`: Forbidden: existing ephemeral containers "a" may not be changed`)
	require.EqualError(t, add(kube.RefOf(web), "main", ""), invalid+`[1].name: Duplicate value: "main"`)
	require.EqualError(t, add(kube.RefOf(web), "b", "none"), invalid+`[1].targetContainerName: Not found: "none"`)
}
