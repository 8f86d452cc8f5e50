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

// everything returns the cases and the samples, as cases of which nothing is
// observed yet.
func (k kind) everything() []corpus.Case {
	all := slices.Clone(k.cases)
	for _, sample := range k.samples {
		c := sample.Case
		c.Name = "samples/" + c.Name
		all = append(all, c)
	}
	return all
}

// parentsCanBeStored: the custom resource of a case is one that the API server takes.
func (k kind) parentsCanBeStored(t *testing.T) {
	for _, c := range k.everything() {
		t.Run(k.short(c), func(t *testing.T) { laws.Stored(t, c) })
	}
}

func (k kind) numbersFit(t *testing.T) {
	if len(k.CRD) == 0 {
		t.Skip("the operator has no CRD")
	}
	t.Logf("%d numbers of 32 bits", laws.NumbersFit(t, k.Controller))
}

// callsShareNothing answers every case twice at once, as the server does. It is what
// the race detector is for, and the only part that needs it.
func (k kind) callsShareNothing(t *testing.T) {
	for _, c := range k.cases {
		t.Run(k.short(c), func(t *testing.T) {
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
}

// requestsCanBeCompact: what the server leaves out of a request is read by no hook.
func (k kind) requestsCanBeCompact(t *testing.T) {
	for _, c := range k.cases {
		t.Run(k.short(c), func(t *testing.T) { laws.Compact(t, c) })
	}
}

// laws holds each answer to what is true of all. The goldens hold a case of an error
// to its text.
func (k kind) laws(t *testing.T) {
	for _, c := range k.everything() {
		answer, err := c.Call()
		if err != nil {
			continue
		}
		t.Run(k.short(c), func(t *testing.T) {
			t.Parallel()
			for _, law := range laws.OfAnswers() {
				t.Run(law.Name, func(t *testing.T) { law.Check(t, c, answer) })
			}
		})
	}
}

// customizeAnswers: a damaged parent does not make customize fail.
func (k kind) customizeAnswers(t *testing.T) {
	if !slices.Contains(k.Hooks(), metacontroller.CustomizeHook) {
		t.Skip("the operator has no customize hook")
	}
	for _, c := range laws.Specs(t, k.everything()) {
		t.Run(k.short(c), func(t *testing.T) {
			t.Parallel()
			laws.CustomizeAnswers(t, c)
		})
	}
}

// nothingForged: what a user writes onto children is not passed on.
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

// samplesBecomeReady plays each sample to Ready, lets each child vanish and deletes
// it without a trace.
func (k kind) samplesBecomeReady(t *testing.T) {
	for _, sample := range k.samples {
		t.Run(sample.Name, func(t *testing.T) {
			t.Parallel()
			laws.Lives(t, k.all, sample)
		})
	}
}

// samplesSurviveLostStatus loses the status of one sync after the other.
func (k kind) samplesSurviveLostStatus(t *testing.T) {
	for _, sample := range k.samples {
		t.Run(sample.Name, func(t *testing.T) {
			t.Parallel()
			laws.LostStatuses(t, k.all, sample)
		})
	}
}

// exploredInner is how long a sample may be, in bytes, that the inner loop explores.
const exploredInner = 1000

// samplesSurviveWhatIsLate explores a few schedules of each sample, in the inner loop
// of one small sample.
func (k kind) samplesSurviveWhatIsLate(t *testing.T) {
	for i, sample := range k.samples {
		if testenv.Inner() && (i > 0 || len(sample.Parent) > exploredInner) {
			continue
		}
		t.Run(sample.Name, func(t *testing.T) {
			t.Parallel()
			laws.Explored(t, k.all, sample)
		})
	}
}
