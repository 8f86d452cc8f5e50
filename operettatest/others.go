package operettatest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// requireOthersStay requires that all observed children are in the answer as before, except
// those that may go.
func requireOthersStay(t testing.TB, where string, c corpus.Case, want, got metacontroller.Answer, mayGo func(child object) bool) {
	t.Helper()
	before, after := refsOf(childrenOf(t, want.Body)), refsOf(childrenOf(t, got.Body))
	for _, child := range observedIn(parsed(t, c.Request), "children") {
		if ref := corpus.Ref(child); before[ref] && !mayGo(child) {
			require.True(t, after[ref], "%s, and %s goes", where, ref)
		}
	}
}

// missingDropsNoOther: a child that is not observed removes no other from the answer, except
// that a ServiceAccount takes along the rights that it has by name, and that the next of a kind
// may go when one is gone that was going: Pods that are scaled down in an order.
func (kind) missingDropsNoOther(t *testing.T, c corpus.Case, want metacontroller.Answer) {
	for kind, group := range parsed(t, c.Request)["children"].(object) {
		for key, value := range group.(object) {
			missing := value.(object)
			isGoing := missing["metadata"].(object)["deletionTimestamp"] != nil || !refsOf(childrenOf(t, want.Body))[corpus.Ref(missing)]
			got, err := changed(t, c, func(request object) { delete(request["children"].(object)[kind].(object), key) }).Call()
			require.NoError(t, err)
			requireOthersStay(t, fmt.Sprintf("without %s %s", kind, key), c, want, got, func(child object) bool {
				return corpus.Ref(child) == corpus.Ref(missing) || isGoing && child["kind"] == missing["kind"] ||
					kind == "ServiceAccount.v1" && child["apiVersion"] == rbacv1.SchemeGroupVersion.String()
			})
		}
	}
}

// editOfOneCostsNoOther removes or changes each label and each annotation of
// the first children, one at a time: no other child may be deleted because of
// that, and nothing is refused.
func (kind) editOfOneCostsNoOther(t *testing.T, c corpus.Case, want metacontroller.Answer) {
	children := observedIn(parsed(t, c.Request), "children")
	for i := range min(len(children), 4) {
		for _, field := range []string{"labels", "annotations"} {
			values, _ := children[i]["metadata"].(object)[field].(object)
			for _, name := range slices.Sorted(maps.Keys(values)) {
				for _, value := range []any{nil, "", forged, "0"} {
					where := fmt.Sprintf("%s: %s of %s is %v", c.Name, name, corpus.Ref(children[i]), value)
					if !testenv.Sampled(where, 5) {
						continue
					}
					got, err := changed(t, c, func(request object) {
						at := observedIn(request, "children")[i]["metadata"].(object)[field].(object)
						if at[name] = value; value == nil {
							delete(at, name)
						}
					}).Call()
					if err != nil && name == metacontroller.LastAppliedAnnotation {
						continue // the hook may need it, and an error changes nothing
					}
					require.NoError(t, err, where)
					requireOthersStay(t, where, c, want, got, func(child object) bool { return corpus.Ref(child) == corpus.Ref(children[i]) })
				}
			}
		}
	}
}

// damages are ways to damage an object without its identity, by name.
var damages = map[string]func(o object){
	"spec":        func(o object) { o["spec"] = "damaged" },
	"status":      func(o object) { o["status"] = []any{1.0} },
	"replicas":    func(o object) { o["spec"] = object{"replicas": "damaged"} },
	"conditions":  func(o object) { o["status"] = object{"conditions": "damaged"} },
	"labels":      func(o object) { o["metadata"].(object)["labels"] = 42.0 },
	"annotations": func(o object) { o["metadata"].(object)["annotations"] = "damaged" },
	"generation":  func(o object) { o["metadata"].(object)["generation"] = "damaged" },
	"last applied": func(o object) {
		o["metadata"].(object)["annotations"] = object{metacontroller.LastAppliedAnnotation: "{"}
	},
}

// damagedStopsNoTeardown damages the parent, each child and each related object
// of a finalize request. It must be answered without an error, and no child may
// be deleted earlier.
func (kind) damagedStopsNoTeardown(t *testing.T, c corpus.Case, answer metacontroller.Answer) {
	// A StatefulSet that only stays for the update of its retention policy, as a
	// condition says, is deleted at once if that cannot be read.
	isTold := strings.Contains(string(answer.Body), `"VolumesDeleted"`)
	for name, damage := range damages {
		check := func(what string, at func(request object) object) {
			next, err := changed(t, c, func(request object) { damage(at(request)) }).Call()
			require.NoError(t, err, what)
			after := refsOf(childrenOf(t, next.Body))
			for _, child := range childrenOf(t, answer.Body) {
				stays := after[corpus.Ref(child)] || isTold && child["kind"] == "StatefulSet"
				require.True(t, stays, "%s of %s: %s goes early", name, what, corpus.Ref(child))
			}
		}
		check("the parent", func(request object) object { return request["parent"].(object) })
		for _, field := range []string{"children", "related"} {
			if field == "related" && name == "labels" {
				continue // a Pod that belongs to nobody must not block the deletion
			}
			for i, observed := range observedIn(parsed(t, c.Request), field) {
				check(corpus.Ref(observed), func(request object) object { return observedIn(request, field)[i] })
			}
		}
	}
}
