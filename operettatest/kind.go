package operettatest

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/laws"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

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
		t.Run(k.short(c), func(t *testing.T) { test(t, c) })
	}
}

// eachSample tests the samples, each in a parallel subtest.
func (k kind) eachSample(t *testing.T, test func(*testing.T, []metacontroller.Controller, corpus.Sample)) {
	for _, sample := range k.samples {
		t.Run(sample.Name, func(t *testing.T) {
			t.Parallel()
			test(t, k.all, sample)
		})
	}
}

// parentsCanBeStored: the API server accepts the custom resource of each case.
func (k kind) parentsCanBeStored(t *testing.T) {
	k.each(t, k.casesAndSamples(), laws.Stored)
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

// laws checks each answer against the laws of all operators. A case of an error
// is checked by its golden.
func (k kind) laws(t *testing.T) {
	for _, c := range k.casesAndSamples() {
		answer, err := c.Call()
		if err != nil {
			continue
		}
		t.Run(k.short(c), func(t *testing.T) {
			t.Parallel()
			for _, law := range laws.OfAnswers() {
				t.Run(law.Name, func(t *testing.T) {
					advise(t, law.Remedy)
					law.Check(t, c, answer)
				})
			}
		})
	}
}

// advise logs what to do if the test fails.
func advise(t *testing.T, remedy string) {
	t.Cleanup(func() {
		if t.Failed() && remedy != "" {
			t.Log("what to do: " + remedy)
		}
	})
}

// customizeAnswers: customize succeeds for a damaged parent.
func (k kind) customizeAnswers(t *testing.T) {
	if !slices.Contains(k.Hooks(), metacontroller.CustomizeHook) {
		t.Skip("the operator has no customize hook")
	}
	k.each(t, laws.Specs(t, k.casesAndSamples()), func(t *testing.T, c corpus.Case) {
		t.Parallel()
		laws.CustomizeAnswers(t, c)
	})
}

// nothingForged: values that a user writes onto children are not passed on.
func (k kind) nothingForged(t *testing.T) {
	tried, answered := laws.Forged(t, k.cases)
	if tried > 30 {
		require.Greater(t, answered, tried/2, "most forged requests are refused, so that little was tested")
	}
}

func (k kind) casesComeToRest(t *testing.T) {
	for _, c := range k.cases {
		if _, err := c.Call(); err != nil || c.Hook != metacontroller.SyncHook {
			continue
		}
		t.Run(k.short(c), func(t *testing.T) {
			t.Parallel()
			laws.ComesToRest(t, k.all, c)
		})
	}
}

// samplesBecomeReady plays each sample until it is Ready, deletes each child
// once, and deletes the sample, of which nothing may be left.
func (k kind) samplesBecomeReady(t *testing.T) { k.eachSample(t, laws.Lives) }

// samplesSurviveLostStatus loses the status of each sync in turn.
func (k kind) samplesSurviveLostStatus(t *testing.T) { k.eachSample(t, laws.LostStatuses) }

// exploredInner is the size of the largest sample, in bytes, that the inner
// loop explores.
const exploredInner = 1000

// samplesSurviveWhatIsLate explores a few schedules of each sample; in the
// inner loop, of one small sample.
func (k kind) samplesSurviveWhatIsLate(t *testing.T) {
	if testenv.Inner() {
		k.samples = slices.DeleteFunc(slices.Clone(k.samples[:min(1, len(k.samples))]), func(sample corpus.Sample) bool {
			return len(sample.Parent) > exploredInner
		})
	}
	k.eachSample(t, laws.Explored)
}
