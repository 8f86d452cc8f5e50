package operettatest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// owesNothing fails with what a kind still lacks to be tested, and the file to
// write.
func (k kind) owesNothing(t *testing.T) {
	if owed := k.owed(); len(owed) > 0 {
		t.Errorf("%s still owes:\n- %s", k.Parent.Kind, strings.Join(owed, "\n- "))
	}
}

// owed returns what is missing, each with what to write where.
func (k kind) owed() []string {
	var owed []string
	if len(k.CRD) == 0 {
		owed = append(owed, "a CustomResourceDefinition: set Controller.CRD, so that nobody asks the hooks about what it refuses")
	}
	for _, hook := range k.ownHooks() {
		if !slices.ContainsFunc(k.cases, func(c corpus.Case) bool { return c.Hook == hook }) {
			owed = append(owed, fmt.Sprintf("a case of its %s hook: write testdata/%s/%[1]s/<what-it-shows>.in.yaml,"+
				" which begins with a comment that tells its reason and holds a %s, and run go test with -update", hook, k.Name(), k.Parent.Kind))
		}
	}
	if len(k.Children) > 0 && len(k.cases) > 0 && !slices.ContainsFunc(k.cases, observesChildren) {
		owed = append(owed, fmt.Sprintf("a case with observed children: write testdata/%s/sync/<what-it-shows>.in.yaml with parent:"+
			" and children:, as `simulate` and `serve --record` show them", k.Name()))
	}
	if len(k.samples) == 0 {
		owed = append(owed, fmt.Sprintf("a sample: write deploy/samples/%s.yaml, a %s as a user would write it", k.Name(), k.Parent.Kind))
	}
	return owed
}

// ownHooks returns the hooks that the operator's author has written, without
// the default finalize hook.
func (k kind) ownHooks() []metacontroller.HookName {
	return slices.DeleteFunc(k.Hooks(), func(hook metacontroller.HookName) bool {
		return hook == metacontroller.FinalizeHook && reflect.ValueOf(k.Finalize).IsZero()
	})
}

// observesChildren reports whether a case has observed children and is answered
// without an error.
func observesChildren(c corpus.Case) bool {
	answer, err := c.Call()
	return err == nil && answer.Observed > 0
}
