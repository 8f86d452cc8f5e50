package laws

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

// RequireSafe checks that a response does not harm Metacontroller, with code of
// its own.
func RequireSafe(t testing.TB, controller metacontroller.Controller, hook metacontroller.HookName, body []byte) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if hook == metacontroller.CustomizeHook {
		var response struct {
			RelatedResources []map[string]any `json:"relatedResources"`
		}
		require.NoError(t, decoder.Decode(&response))
		require.NotNil(t, response.RelatedResources)
		return
	}
	var response struct {
		Status             map[string]any   `json:"status"`
		Children           []map[string]any `json:"children"`
		ResyncAfterSeconds float64          `json:"resyncAfterSeconds"`
		Finalized          bool             `json:"finalized"`
	}
	require.NoError(t, decoder.Decode(&response))
	require.NotNil(t, response.Status)
	require.NotNil(t, response.Children)
	require.True(t, hook == metacontroller.FinalizeHook || !response.Finalized)
	refs := map[string]bool{}
	for _, child := range response.Children {
		require.NotNil(t, child)
		require.True(t, slices.ContainsFunc(controller.Children, func(declared metacontroller.Child) bool {
			return child["apiVersion"] == declared.APIVersion && child["kind"] == declared.Kind
		}))
		name, _ := child["metadata"].(map[string]any)["name"].(string)
		require.Empty(t, validation.IsDNS1123Subdomain(name))
		require.False(t, refs[corpus.Ref(child)], "%s stands twice", corpus.Ref(child))
		refs[corpus.Ref(child)] = true
	}
}
