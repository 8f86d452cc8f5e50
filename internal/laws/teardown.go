package laws

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// damages are ways to damage an object without its identity, by name.
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

// damagedStopsNoTeardown damages the parent, each child and each related object
// of a finalize request. It must be answered without an error, and no child may
// be deleted earlier.
func damagedStopsNoTeardown(t *testing.T, e corpus.Case, answer metacontroller.Answer) {
	if e.Hook != metacontroller.FinalizeHook {
		return
	}
	// A StatefulSet that only stays for the update of its retention policy, as a
	// condition says, is deleted at once if that cannot be read.
	isTold := strings.Contains(string(answer.Body), `"VolumesDeleted"`)
	check := func(what string, change func(request map[string]any)) {
		damaged := e
		damaged.Request = changed(t, e, change)
		next, err := damaged.Call()
		require.NoError(t, err, what)
		after := map[string]bool{}
		for _, child := range next.Children {
			after[child.Kind+"/"+child.Name] = true
		}
		for _, child := range answer.Children {
			ref := child.Kind + "/" + child.Name
			require.True(t, after[ref] || isTold && child.Kind == "StatefulSet", "%s: %s goes early", what, ref)
		}
	}
	for name, damage := range damages {
		check("the parent's "+name, func(request map[string]any) { damage(request["parent"].(map[string]any)) })
		for _, field := range []string{"children", "related"} {
			groups, _ := Parsed(t, e.Request)[field].(map[string]any)
			for kind, group := range groups {
				for key := range group.(map[string]any) {
					if field == "related" && name == "labels" {
						continue // a Pod that belongs to nobody must not block the deletion
					}
					check(fmt.Sprintf("%s of %s %s", name, kind, key), func(request map[string]any) {
						damage(request[field].(map[string]any)[kind].(map[string]any)[key].(map[string]any))
					})
				}
			}
		}
	}
}
