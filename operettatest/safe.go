package operettatest

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// requireSafe checks that a response does not harm Metacontroller, with code of
// its own.
func requireSafe(t testing.TB, controller metacontroller.Controller, hook metacontroller.HookName, body []byte) {
	var response struct {
		Status             object                 `json:"status"`
		Children           []object               `json:"children"`
		ResyncAfterSeconds float64                `json:"resyncAfterSeconds"`
		Finalized          bool                   `json:"finalized"`
		RelatedResources   *[]metacontroller.Rule `json:"relatedResources"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&response))
	if hook == metacontroller.CustomizeHook {
		require.NotNil(t, response.RelatedResources)
		return
	}
	require.NotNil(t, response.Status)
	require.NotNil(t, response.Children)
	require.True(t, hook == metacontroller.FinalizeHook || !response.Finalized)
	refs := map[string]bool{}
	for _, child := range response.Children {
		require.True(t, slices.ContainsFunc(controller.Children, func(declared metacontroller.Child) bool {
			return child["apiVersion"] == declared.APIVersion && child["kind"] == declared.Kind
		}))
		require.Empty(t, validation.IsDNS1123Subdomain(nameOf(child)))
		require.False(t, refs[corpus.Ref(child)], "%s stands twice", corpus.Ref(child))
		require.NotContains(t, child, "status")
		for member := range child["metadata"].(object) {
			require.Contains(t, []string{"name", "namespace", "labels", "annotations"}, member)
		}
		refs[corpus.Ref(child)] = true
	}
}
