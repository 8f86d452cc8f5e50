package laws

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// editOfOneCostsNoOther removes or changes each label and each annotation of
// the first children, one at a time: no other child may be deleted because of
// that, and nothing is refused.
func editOfOneCostsNoOther(t *testing.T, c corpus.Case, want metacontroller.Answer) {
	if c.Hook != metacontroller.SyncHook {
		return
	}
	before := Parsed(t, c.Request)
	children := ObservedIn(before, "children")
	for i := range min(len(children), 4) {
		for _, field := range []string{"labels", "annotations"} {
			metadata := children[i]["metadata"].(map[string]any)
			values, _ := metadata[field].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(values)) {
				for _, value := range []any{nil, "", forged, "0"} {
					where := fmt.Sprintf("%s: %s of %s is %v", c.Name, name, corpus.Ref(children[i]), value)
					if !testenv.Sampled(where, 5) {
						continue
					}
					edited := c
					edited.Request = changed(t, c, func(request map[string]any) {
						at := ObservedIn(request, "children")[i]["metadata"].(map[string]any)[field].(map[string]any)
						if at[name] = value; value == nil {
							delete(at, name)
						}
					})
					got, err := edited.Call()
					if err != nil && name == metacontroller.LastAppliedAnnotation {
						continue // the hook may need it, and an error changes nothing
					}
					require.NoError(t, err, where)
					requireOthersStay(t, where, before, want, got, corpus.Ref(children[i]))
				}
			}
		}
	}
}

// requireOthersStay requires that all observed children except one are in the
// answer as before.
func requireOthersStay(t testing.TB, where string, request map[string]any, want, got metacontroller.Answer, but string) {
	t.Helper()
	before, after := refsOf(ChildrenOf(t, want.Body)), refsOf(ChildrenOf(t, got.Body))
	for _, child := range ObservedIn(request, "children") {
		if ref := corpus.Ref(child); ref != but && before[ref] {
			require.True(t, after[ref], "%s, and %s goes", where, ref)
		}
	}
}
