// Package defaults compares the defaults that the simulated API server sets in objects of
// the built-in kinds with those of Kubernetes' own code. It consists of tests only.
package defaults

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/lab/player"
)

// TestChildrenHaveTheDefaultsOfKubernetes compares the children in the expected
// answers to all cases. The simulation may refuse an observed child that is kept: the
// hook returns it as the case has it, which may be its name alone.
func TestChildrenHaveTheDefaultsOfKubernetes(t *testing.T) {
	cases, err := corpus.Read("../../testdata", hooks.All())
	require.NoError(t, err)
	c := &comparison{t: t}
	for _, one := range cases {
		text, err := os.ReadFile(filepath.Join("../../testdata", one.Name+".out.yaml"))
		require.NoError(t, err)
		encoded, err := yaml.YAMLToJSON(text)
		require.NoError(t, err)
		answer, err := kube.ParseJSON(encoded)
		require.NoError(t, err)
		request, err := kube.ParseJSON(one.Request)
		require.NoError(t, err)
		observed := map[string]bool{}
		groups, _ := request["children"].(map[string]any) // a customize hook is told of none
		for _, group := range groups {
			for _, child := range group.(map[string]any) {
				observed[corpus.Ref(child.(map[string]any))] = true
			}
		}
		for _, child := range items(answer, "children") {
			refused := len(c.refused)
			c.compare(&unstructured.Unstructured{Object: child})
			if !observed[corpus.Ref(child)] {
				require.Empty(t, c.refused[refused:], one.Name)
			}
		}
	}
	c.report()
}

// TestSamplesHaveTheDefaultsOfKubernetes compares all children of the samples until
// nothing changes any more, and the other objects in the samples.
func TestSamplesHaveTheDefaultsOfKubernetes(t *testing.T) {
	samples, err := corpus.Samples("../../deploy/samples", hooks.All())
	require.NoError(t, err)
	c := &comparison{t: t}
	for _, sample := range samples {
		world := player.New(player.Options{Controllers: hooks.All(), Simulation: invariants.All(), Call: player.Direct(hooks.All()...), MaxSteps: 100})
		world.Ask(func(asked player.Asked) error {
			c.compare(asked.Desired)
			return nil
		})
		for _, text := range sample.Objects() {
			object, err := kube.ParseObject(text)
			require.NoError(t, err)
			if legacyscheme.Scheme.Recognizes(object.GroupVersionKind()) {
				c.compare(object)
			}
			require.NoError(t, world.Apply(text))
		}
		require.NoError(t, world.Play(), sample.Name)
	}
	require.Empty(t, c.refused)
	c.report()
}
