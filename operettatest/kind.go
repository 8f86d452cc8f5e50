package operettatest

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/simulation"
)

// project is what is tested.
type project struct {
	dir        string // its root
	all        []metacontroller.Controller
	simulation simulation.Kinds
	samples    []corpus.Sample
}

// kind is an operator with its cases and samples.
type kind struct {
	metacontroller.Controller
	project

	cases []corpus.Case
}

// newKind returns an operator of a project, with only its own samples.
func newKind(t testing.TB, controller metacontroller.Controller, p project) kind {
	t.Helper()
	cases, err := corpus.ReadKind(filepath.Join(p.dir, "testdata"), controller)
	require.NoError(t, err)
	p.samples = slices.DeleteFunc(slices.Clone(p.samples), func(sample corpus.Sample) bool {
		return sample.Controller.Name() != controller.Name()
	})
	return kind{controller, p, cases}
}

// short is the name of a case or a sample without that of its kind.
func (k kind) short(c corpus.Case) string { return strings.TrimPrefix(c.Name, k.Name()+"/") }

// casesAndSamples returns the cases, and the samples as cases without observed
// children.
func (k kind) casesAndSamples() []corpus.Case {
	all := slices.Clone(k.cases)
	for _, sample := range k.samples {
		c := sample.Case
		c.Name = "samples/" + c.Name
		all = append(all, c)
	}
	return all
}

// each tests cases, each in a subtest.
func (k kind) each(t *testing.T, cases []corpus.Case, test func(*testing.T, corpus.Case)) {
	for _, c := range cases {
		t.Run(k.short(c), func(t *testing.T) {
			tellIncomplete(t, c)
			test(t, c)
		})
	}
}

// parentsCanBeStored requires that the API server would store the parent of each case,
// unless the name of the case says otherwise.
func (k kind) parentsCanBeStored(t *testing.T) {
	if k.CRD == nil {
		t.Skip("the operator has no CRD: set Controller.CRD")
	}
	k.each(t, k.casesAndSamples(), func(t *testing.T, c corpus.Case) {
		var request struct{ Parent json.RawMessage }
		require.NoError(t, json.Unmarshal(c.Request, &request))
		var parent object
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(request.Parent, &parent))
		unknown, refusals := k.schema(t).Admit(context.Background(), parent, nil)
		isNamed := func(word string) bool { return strings.Contains(c.Name, word) }
		switch {
		case isNamed("bad-spec"), isNamed("undecodable-spec"):
			require.NotEmpty(t, refusals, "the API server takes it: choose another name")
		case isNamed("is-an-error"): // of the API server, or of the hook
		default:
			require.Empty(t, refusals, "the API server refuses it: mend it, or name the case bad-spec-...")
		}
		require.Empty(t, unknown, "the API server drops these fields")
	})
}

// schema returns the schema of the operator's CRD.
func (k kind) schema(t testing.TB) *crd.Schema {
	schema, err := k.Schema()
	require.NoError(t, err)
	return schema
}

// callsShareNothing answers every case twice at once, as the server does. Only
// this part needs the race detector.
func (k kind) callsShareNothing(t *testing.T) {
	k.each(t, k.cases, func(t *testing.T, c corpus.Case) {
		var answers [2]metacontroller.Answer
		var errs [2]error
		var calls sync.WaitGroup
		for i := range answers {
			calls.Go(func() { answers[i], errs[i] = c.Call() })
		}
		calls.Wait()
		require.Equal(t, errs[0], errs[1])
		require.Equal(t, string(answers[0].Body), string(answers[1].Body))
	})
}

// invariants checks each answer against the invariants of all operators. A case of an error
// is checked by its golden.
func (k kind) invariants(t *testing.T) {
	k.each(t, k.casesAndSamples(), func(t *testing.T, c corpus.Case) {
		answer, err := c.Call()
		if err != nil {
			t.Skip("it is answered with an error")
		}
		t.Parallel()
		for _, invariant := range invariantsOfAnswers {
			if !slices.Contains(invariant.hooks, c.Hook) {
				continue
			}
			t.Run(invariant.name, func(t *testing.T) {
				advise(t, invariant.remedy)
				invariant.check(k, t, c, answer)
			})
		}
	})
}

// advise logs what to do if the test fails. The returned function says it of what is checked next.
func advise(t testing.TB, remedy string) (next func(remedy string)) {
	t.Cleanup(func() {
		if t.Failed() && remedy != "" {
			t.Log("what to do: " + remedy)
		}
	})
	return func(other string) { remedy = other }
}
