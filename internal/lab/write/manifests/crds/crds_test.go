package crds

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
)

const definition = `
spec:
  names: {kind: Tune, shortNames: [tn]}
  versions:
  - name: v1
    schema: {openAPIV3Schema: {properties: {spec: {type: object, description: ours}}}}
    subresources: {status: {}, scale: {}}
`

// ours is the module that the types of these tests are declared in.
const ours module = "github.com/operetta-dev/operetta"

func tunes() metacontroller.Controller {
	return metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "example.org/v1", Kind: "Tune", Plural: "tunes"},
		Sync: metacontroller.Sync(func(*parent, metacontroller.Observed) (metacontroller.Result[struct{}], error) {
			return metacontroller.Result[struct{}]{}, nil
		}),
	}
}

func TestADefinitionTellsWhatElseIsPrinted(t *testing.T) {
	crd, err := ours.finish(tunes(), []byte(definition))
	require.NoError(t, err)
	require.Equal(t, []string{"tn"}, crd.ShortNames)
	require.True(t, crd.HasScale)

	crd, err = ours.finish(tunes(), []byte(strings.Replace(definition, ", scale: {}", "", 1)))
	require.NoError(t, err)
	require.False(t, crd.HasScale)
}

func TestADefinitionIsWhatTheControllerDeclares(t *testing.T) {
	for want, text := range map[string]string{
		"the markers say example.org/v1 Tone, the Controller declares example.org/v1 Tune": strings.Replace(definition, "kind: Tune", "kind: Tone", 1),
		"the markers say example.org/v2 Tune":                                              strings.Replace(definition, "name: v1", "name: v2", 1),
		"no status subresource":                                                            strings.Replace(definition, "status: {}, ", "", 1),
		"nothing to say about spec":                                                        strings.Replace(definition, ", description: ours", "", 1),
		"the short name rc belongs to replicationcontrollers":                              strings.Replace(definition, "tn", "rc", 1),
		"2 versions are marked":                                                            "spec: {versions: [{name: v1}, {name: v2}]}",
	} {
		_, err := ours.finish(tunes(), []byte(text))
		require.ErrorContains(t, err, want)
	}
}
