package laws

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/metacontroller"
)

// object is a JSON object.
type object = map[string]any

// Schema returns the schema of an operator's CRD.
func Schema(t testing.TB, controller metacontroller.Controller) *crd.Schema {
	schema, err := crd.Compiled(controller.CRD, controller.Parent.Version())
	require.NoError(t, err)
	return schema
}

// Admitted returns the API server's objections to a parent: unknown fields, and
// validation errors.
func Admitted(t *testing.T, c corpus.Case) (unknown, refusals []string) {
	var request struct{ Parent json.RawMessage }
	require.NoError(t, json.Unmarshal(c.Request, &request))
	var parent map[string]any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(request.Parent, &parent))
	unknown, errs := Schema(t, c.Controller).Admit(context.Background(), parent, nil)
	for _, err := range errs {
		refusals = append(refusals, err.Error())
	}
	return unknown, refusals
}

// Stored requires that the API server would store the parent of a case, unless
// the name of the case says otherwise.
func Stored(t *testing.T, c corpus.Case) {
	if len(c.Controller.CRD) == 0 {
		t.Skip("the operator has no CRD: set Controller.CRD")
	}
	unknown, refusals := Admitted(t, c)
	switch {
	case namedAs(c.Name, "bad-spec", "undecodable-spec"):
		require.NotEmpty(t, refusals, "the API server takes it: choose another name")
	case namedAs(c.Name, "is-an-error"): // of the API server, or of the hook
	default:
		require.Empty(t, refusals, "the API server refuses it: mend it, or name the case bad-spec-...")
	}
	require.Empty(t, unknown, "the API server drops these fields")
}

// namedAs reports whether one of the words is in the name of a case.
func namedAs(name string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}
