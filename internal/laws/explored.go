package laws

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/explore"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Explored plays a few schedules of fixed seeds, with late caches, lost writes,
// edits and faults, and checks the laws of package explore and the operator's
// invariants. `operetta explore` plays others.
func Explored(t *testing.T, all []metacontroller.Controller, sample corpus.Sample) {
	schedules := 2
	switch {
	case testenv.Thorough():
		schedules = 4
	case testing.Short():
		schedules = 1
	}
	for i, apply := range Strategies {
		if testing.Short() && (len(sample.Name)+i)%2 > 0 {
			continue // one strategy for each sample
		}
		t.Run(string(apply), func(t *testing.T) {
			t.Parallel()
			scenario := &explore.Scenario{Name: sample.Name, Controllers: all, Apply: apply, Objects: sample.Objects()}
			findings, played, err := scenario.Find(t.Context(), explore.Search{First: 1, Schedules: schedules})
			require.NoError(t, err)
			for _, finding := range findings {
				t.Errorf("seed %d of `explore`: %s", finding.Seed, finding.Text())
			}
			require.True(t, len(findings) > 0 || played == schedules)
		})
	}
}
