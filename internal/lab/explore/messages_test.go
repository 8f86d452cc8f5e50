package explore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/simulation"
)

func childOf(kind string, spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{}, "spec": spec}
}

// TestDifferencesNameTheRemedy: each says which side has what, and what to declare.
func TestDifferencesNameTheRemedy(t *testing.T) {
	long := "it begins with a text that is the same in both, at some length, until it says "
	for _, c := range []struct {
		name          string
		is, fresh     map[string]map[string]any
		history       []simulation.History
		text, allowed string
	}{
		{
			name: "a child is missing", fresh: map[string]map[string]any{"Pod/a": childOf("Pod", nil)},
			text: "Pod/a is missing", allowed: `{Kind: "Pod", Fewer: true, Reason: "..."}`,
		},
		{
			name: "a child is left over", is: map[string]map[string]any{"Pod/a": childOf("Pod", nil)},
			text: "Pod/a is left over", allowed: `{Kind: "Pod", More: true, Reason: "..."}`,
		},
		{
			name:  "a field differs",
			is:    map[string]map[string]any{"Deployment/a": childOf("Deployment", map[string]any{"replicas": int64(3)})},
			fresh: map[string]map[string]any{"Deployment/a": childOf("Deployment", map[string]any{"replicas": int64(2)})},
			text:  "Deployment/a has spec.replicas 3, and a new one would have 2", allowed: `{Kind: "Deployment", Fields: []string{"spec.replicas"}, Reason: "..."}`,
		},
		{
			name:  "a long text differs",
			is:    map[string]map[string]any{"Job/a": childOf("Job", map[string]any{"text": long + "this, and goes on for some while after that, too"})},
			fresh: map[string]map[string]any{"Job/a": childOf("Job", map[string]any{"text": long + "that, and goes on for some while after that, too"})},
			text: `Job/a has spec.text …th, until it says this, and goes on for some while after tha…, ` +
				`and a new one would have …th, until it says that, and goes on for some while after tha…`,
			allowed: `{Kind: "Job", Fields: []string{"spec.text"}, Reason: "..."}`,
		},
		{
			name:    "a child of any name differs",
			is:      map[string]map[string]any{"Pod/a": childOf("Pod", map[string]any{"x": "1"})},
			fresh:   map[string]map[string]any{"Pod/b": childOf("Pod", map[string]any{"x": "2"})},
			history: []simulation.History{{Kind: "Pod", Names: true}},
			text:    "Pod/a is none that a new one would have (it has spec.x 1, and a new one would have 2), one like Pod/b is missing",
			allowed: `{Kind: "Pod", More: true, Reason: "..."}, {Kind: "Pod", Fewer: true, Reason: "..."}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := (&rest{children: c.is}).differences(&rest{children: c.fresh}, c.history)
			require.Equal(t, c.text+"; correct the hook, or, where the difference is meant, declare in Invariants.History: "+c.allowed, tell(list))
		})
	}
}

// TestInvariantsAreNamed: the law is that of the kind.
func TestInvariantsAreNamed(t *testing.T) {
	toy := metacontroller.Controller{Parent: metacontroller.Resource{APIVersion: "toys.example.com/v1", Kind: "Toy", Plural: "toys"}}
	s := &Scenario{
		Controllers: []metacontroller.Controller{toy}, Apply: player.DynamicApply,
		Simulation: simulation.Kinds{"toy": {Invariants: simulation.Invariants{Watch: func() func(simulation.Write) string {
			return func(simulation.Write) string { return "it has been written" }
		}}}},
		Objects: [][]byte{[]byte(`{"apiVersion":"toys.example.com/v1","kind":"Toy","metadata":{"name":"t"}}`)},
		Call:    func(time.Time, string, []byte) (int, []byte, error) { return 200, []byte(`{"status":{}}`), nil },
	}
	require.Equal(t, "the invariants of Toy: it has been written", s.Play(nil).Broken.String())
}

// TestEqualRequestsAreAnsweredOnce, but not twice in a row: so a hook that is no pure function is
// found where a world comes to rest.
func TestEqualRequestsAreAnsweredOnce(t *testing.T) {
	calls := 0
	call := remember(func(time.Time, string, []byte) (int, []byte, error) {
		calls++
		return 200, nil, nil
	})
	for _, c := range []struct {
		body  string
		calls int
	}{{"a", 1}, {"a", 2}, {"b", 3}, {"a", 3}, {"b", 3}, {"b", 4}} {
		_, _, err := call(time.Time{}, "/toy/sync", []byte(c.body))
		require.NoError(t, err)
		require.Equal(t, c.calls, calls)
	}
}

// TestFieldsOfAUserAreKept: only of a Pod they are written by others.
func TestFieldsOfAUserAreKept(t *testing.T) {
	for kind, want := range map[string]map[string]any{"Pod": {}, "Toy": {"nodeName": "n"}} {
		written := asWritten(&unstructured.Unstructured{Object: childOf(kind, map[string]any{"nodeName": "n"})})
		require.Equal(t, want, written["spec"])
	}
}
