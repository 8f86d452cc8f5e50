package hooks_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/metacontroller"
)

// TestEditOfOneChildCostsNoOtherChild takes off or alters each label and each
// annotation of each child in every case, one at a time: no other child may go
// for it, and nothing is refused.
func TestEditOfOneChildCostsNoOtherChild(t *testing.T) {
	edited := 0
	for _, target := range forgeTargets(t) {
		if target.hook != metacontroller.SyncHook {
			continue
		}
		want, err := target.call()
		if err != nil {
			continue
		}
		children := observedIn(target.request, "children")
		for i := range min(len(children), 4) {
			for _, field := range []string{"labels", "annotations"} {
				metadata := children[i]["metadata"].(map[string]any)
				values, _ := metadata[field].(map[string]any)
				for _, name := range slices.Sorted(maps.Keys(values)) {
					for _, value := range []any{nil, "", forged, "0"} {
						where := fmt.Sprintf("%s: %s of %s is %v", target.name, name, refOf(children[i]), value)
						if !sampled(where, 5) {
							continue
						}
						request := runtime.DeepCopyJSON(target.request)
						at := observedIn(request, "children")[i]["metadata"].(map[string]any)[field].(map[string]any)
						if at[name] = value; value == nil {
							delete(at, name)
						}
						got, err := target.controller.Call(target.hook, target.now, encoded(t, request))
						if err != nil && name == metacontroller.LastAppliedAnnotation {
							continue // it may have to be read, and an error changes nothing
						}
						require.NoError(t, err, where)
						requireOthersStay(t, where, target.request, want, got, refOf(children[i]))
						edited++
					}
				}
			}
		}
	}
	require.Positive(t, edited)
}

// requireOthersStay wants all observed children but one to be answered as they
// were before.
func requireOthersStay(t testing.TB, where string, request map[string]any, want, got metacontroller.Answer, but string) {
	t.Helper()
	after := map[string]bool{}
	for _, child := range childrenOf(t, got.Body) {
		after[refOf(child)] = true
	}
	before := map[string]bool{}
	for _, child := range childrenOf(t, want.Body) {
		before[refOf(child)] = true
	}
	for _, child := range observedIn(request, "children") {
		if ref := refOf(child); ref != but && before[ref] {
			require.True(t, after[ref], "%s, and %s goes", where, ref)
		}
	}
}
