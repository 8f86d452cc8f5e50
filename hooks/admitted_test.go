package hooks_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"
)

// admitted returns what the API server has against a parent: the fields that it
// drops, and why it refuses it.
func admitted(t *testing.T, e exchange) (unknown, refusals []string) {
	var request struct{ Parent json.RawMessage }
	require.NoError(t, json.Unmarshal(e.request, &request))
	var parent map[string]any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(request.Parent, &parent))
	unknown, errs := schemaOf(t, e.controller).Admit(context.Background(), parent, nil)
	for _, err := range errs {
		refusals = append(refusals, err.Error())
	}
	return unknown, refusals
}

// TestCasesAreWhatTheAPIServerStores: the parent of a case, and a sample, is one
// that can come to the hook, unless the name of the case says that it is not.
func TestCasesAreWhatTheAPIServerStores(t *testing.T) {
	for _, e := range append(cases(t), samples(t)...) {
		t.Run(e.name, func(t *testing.T) {
			unknown, refusals := admitted(t, e)
			switch {
			case namedAs(e.name, "bad-spec", "undecodable-spec"):
				require.NotEmpty(t, refusals, "the API server takes it: choose another name")
			case namedAs(e.name, "is-an-error"): // of the API server, or of the hook
			default:
				require.Empty(t, refusals, "the API server refuses it: mend it, or name the case bad-spec-...")
			}
			require.Empty(t, unknown, "the API server drops these fields")
		})
	}
}

// namedAs reports whether one of the words is in the name of a case.
func namedAs(name string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}
