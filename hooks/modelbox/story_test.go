package modelbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks/modelbox"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

func apply(t *testing.T, world *simulate.World, text string) {
	t.Helper()
	object, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	require.NoError(t, world.Apply(object))
}

// TestNodePortThatIsTaken edits a node port twice, first to one that another
// Service has.
func TestNodePortThatIsTaken(t *testing.T) {
	for _, strategy := range []simulate.Strategy{simulate.DynamicApply, simulate.ServerSideApply} {
		world := simulate.New(simulate.Options{
			Controllers: []metacontroller.Controller{modelbox.Controller()}, MaxSteps: 1000,
			Call: simulate.Direct(modelbox.Controller()), Apply: strategy,
		})
		ready := func() (string, string) {
			require.NoError(t, world.Play())
			outcome := world.Outcomes()[0]
			return outcome.Ready + " " + outcome.Reason, outcome.Message
		}
		const box = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx, replicas: 1, ports: [{port: 80, nodePort: "
		apply(t, world, "{apiVersion: v1, kind: Service, metadata: {name: other}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30011}]}}")
		apply(t, world, box+"30010}]}}")
		state, _ := ready()
		require.Equal(t, "True Available", state)

		apply(t, world, box+"30011}]}}")
		state, message := ready()
		require.Equal(t, "False UpdateBlocked", state)
		require.Contains(t, message, "Service/web not updated after 30s: the API server may refuse the update for a node port that is taken")
		require.Contains(t, message, "`kubectl events -n default --for modelboxes.model.github.com/web`")
		require.Equal(t, "True", simulate.Condition(world.Outcomes()[0].Parent, "Stalled").Status)

		apply(t, world, box+"30012}]}}")
		state, _ = ready()
		require.Equal(t, "True Available", state)
		require.Empty(t, simulate.Condition(world.Outcomes()[0].Parent, "Stalled").Status)
	}
}

// TestServiceAccountIsTakenBack names a ServiceAccount and removes the name again:
// the API server stores it with two names.
func TestServiceAccountIsTakenBack(t *testing.T) {
	for _, strategy := range []simulate.Strategy{simulate.DynamicApply, simulate.ServerSideApply} {
		world := simulate.New(simulate.Options{
			Controllers: []metacontroller.Controller{modelbox.Controller()}, MaxSteps: 1000,
			Call: simulate.Direct(modelbox.Controller()), Apply: strategy,
		})
		account := func() (name string) {
			require.NoError(t, world.Play())
			deployment := world.Get(simulate.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"})
			name, _, err := unstructured.NestedString(deployment.Object, "spec", "template", "spec", "serviceAccountName")
			require.NoError(t, err)
			return name
		}
		const box = "{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx"
		apply(t, world, box+", serviceAccountName: robot}}")
		require.Equal(t, "robot", account())
		apply(t, world, box+"}}")
		require.Empty(t, account(), strategy)
	}
}
