package hooks_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
)

// damages are what may be wrong with an object of which it is still known which
// it is, by names of their own. Labels tell the turn of a child, so it may go early
// without them, but nothing else may.
var damages = map[string]func(object map[string]any){
	"spec":        func(o map[string]any) { o["spec"] = "damaged" },
	"status":      func(o map[string]any) { o["status"] = []any{1.0} },
	"replicas":    func(o map[string]any) { o["spec"] = map[string]any{"replicas": "damaged"} },
	"conditions":  func(o map[string]any) { o["status"] = map[string]any{"conditions": "damaged"} },
	"labels":      func(o map[string]any) { o["metadata"].(map[string]any)["labels"] = 42.0 },
	"annotations": func(o map[string]any) { o["metadata"].(map[string]any)["annotations"] = "damaged" },
	"generation":  func(o map[string]any) { o["metadata"].(map[string]any)["generation"] = "damaged" },
	"last applied": func(o map[string]any) {
		o["metadata"].(map[string]any)["annotations"] = map[string]any{metacontroller.LastAppliedAnnotation: "{"}
	},
}

// damagedStopsNoTeardown damages the parent, each child and each related object of
// a finalize request. It is answered all the same, and no child goes that would
// have stayed but one whose own labels are damaged.
func damagedStopsNoTeardown(t *testing.T, e exchange, answer metacontroller.Answer) {
	if e.hook != metacontroller.FinalizeHook {
		return
	}
	check := func(what, itself string, change func(request map[string]any)) {
		damaged := e
		damaged.request = changed(t, e, change)
		next, err := damaged.call()
		require.NoError(t, err, what)
		after := map[string]bool{}
		for _, child := range next.Children {
			after[child.Kind+"/"+child.Name] = true
		}
		for _, child := range answer.Children {
			ref := child.Kind + "/" + child.Name
			// A set that is told that its volumes go with it is not kept; it
			// goes at once where nothing tells that they shall.
			require.True(t, after[ref] || ref == itself || !child.Kept, "%s: %s goes early", what, ref)
		}
	}
	for name, damage := range damages {
		check("the parent's "+name, "", func(request map[string]any) { damage(request["parent"].(map[string]any)) })
		for _, field := range []string{"children", "related"} {
			groups, _ := parsed(t, e.request)[field].(map[string]any)
			for kind, group := range groups {
				for key, object := range group.(map[string]any) {
					if field == "related" && name == "labels" {
						continue // a Pod that belongs to nobody holds nobody up, or it would for ever
					}
					itself := ""
					if field == "children" && name == "labels" {
						itself = object.(map[string]any)["kind"].(string) + "/" + object.(map[string]any)["metadata"].(map[string]any)["name"].(string)
					}
					check(fmt.Sprintf("%s of %s %s", name, kind, key), itself, func(request map[string]any) {
						damage(request[field].(map[string]any)[kind].(map[string]any)[key].(map[string]any))
					})
				}
			}
		}
	}
}
