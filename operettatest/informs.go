package operettatest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// informingDecidesNoChild: a request without the objects that only inform asks for the same
// children. Where an operator has the policy watchPods, what it selects under Never is needed.
func (k kind) informingDecidesNoChild(t *testing.T, c corpus.Case, answer metacontroller.Answer) {
	asked := c
	asked.Hook, asked.Request = metacontroller.CustomizeHook, encoded(t, object{"parent": parsed(t, c.Request)["parent"]})
	var needed []metacontroller.Rule
	if never, err := c.Controller.WithPolicy([]byte(`{"watchPods": "Never"}`)); err == nil {
		asked.Controller = never
		needed = rulesOf(t, asked, c.Name)
	}
	without := changed(t, c, func(request object) {
		for _, related := range k.Related {
			isNeeded := slices.ContainsFunc(needed, func(rule metacontroller.Rule) bool { return rule.Resource == related.Plural })
			if related.Informs && !isNeeded {
				delete(request["related"].(object), related.Key())
			}
		}
	})
	next, err := without.Call()
	require.NoError(t, err)
	require.Equal(t, childrenOf(t, answer.Body), childrenOf(t, next.Body))
}
