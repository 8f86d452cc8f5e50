package run

import (
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// TestALineIsALine: what a server says in several is one of the transcript, without escapes.
func TestALineIsALine(t *testing.T) {
	world := player.New(player.Options{})
	step := player.Step{Events: []player.Event{{Verb: player.Struck, Detail: "it is refused:\n* a\r\n* b\x1b"}}}
	require.Equal(t, []string{`! it is refused: * a * b\u001b`}, new(Printer).Lines(world, step))
}

// TestVersions: there is one for each step in which an object changed.
func TestVersions(t *testing.T) {
	world := player.New(player.Options{})
	recorder := Record(world)
	apply := func(text string) {
		content, err := yaml.YAMLToJSON([]byte(text))
		require.NoError(t, err)
		require.NoError(t, world.Apply(content))
	}
	apply("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}}")
	require.NoError(t, world.Play())
	apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: b}}")
	apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: c}}")
	require.NoError(t, world.Play())
	require.NoError(t, world.Delete(kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "c"}))
	require.NoError(t, world.Play())
	apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: e}}")
	apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: last}}")

	run, err := recorder.Run("text", nil)
	require.NoError(t, err)
	var ids, roles []string
	for _, o := range run.Objects {
		ids, roles = append(ids, o.Kind), append(roles, o.Role)
		for i := range o.Versions[1:] {
			require.Less(t, o.Versions[i].Step, o.Versions[i+1].Step)
		}
	}
	require.Equal(t, []string{"Deployment", "ReplicaSet", "Pod", "ConfigMap"}, ids, "what was not played is no step yet")
	require.Equal(t, []string{"other", "below", "below", "other"}, roles)
	require.Equal(t, 1, run.Objects[2].Versions[0].Owner)
	deployment := run.Objects[0].Versions
	require.Equal(t, kube.Waiting, deployment[0].State)
	require.Equal(t, kube.Ready, deployment[len(deployment)-1].State)
	require.Equal(t, "1/1 ready", deployment[len(deployment)-1].Progress)

	versions := run.Objects[3].Versions
	require.Len(t, versions, 2)
	require.Contains(t, string(versions[0].Object), `"data":{"a":"c"}`)
	require.Equal(t, Version{Step: versions[0].Step + 1, Owner: -1, State: kube.Gone}, versions[1])
	for _, step := range run.Steps {
		require.NotNil(t, step.Lines)
		for _, event := range step.Events {
			require.Less(t, *event.Object, len(run.Objects))
		}
	}
}
