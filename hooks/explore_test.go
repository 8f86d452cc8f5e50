package hooks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/lab/explore"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/testenv"
)

// scenariosDir holds a small custom resource of each kind, to be explored.
const scenariosDir = "testdata/explore"

var strategies = []player.Strategy{player.DynamicApply, player.ServerSideApply}

// scenario reads one of scenariosDir.
func scenario(t testing.TB, name string, apply player.Strategy) *explore.Scenario {
	return &explore.Scenario{
		Name: name, Controllers: hooks.All(), Simulation: invariants.All(), Apply: apply,
		Objects: readDocuments(t, filepath.Join(scenariosDir, name+".yaml")),
	}
}

// scenarioNames returns the selected kinds that have a scenario.
func scenarioNames(t testing.TB) []string {
	entries, err := os.ReadDir(scenariosDir)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		if name := strings.TrimSuffix(entry.Name(), ".yaml"); testenv.Selected(name) {
			names = append(names, name)
		}
	}
	return names
}

// TestExplore plays the schedules of fixed seeds. `operetta explore` and
// `make explore` play others.
func TestExplore(t *testing.T) {
	if testenv.Inner() {
		t.Skip("the laws explore each sample: make cover explores the scenarios, too")
	}
	seeds := 4
	switch {
	case testenv.Thorough():
		seeds = 8
	case testing.Short():
		seeds = 1
	}
	for _, name := range scenarioNames(t) {
		for _, apply := range strategies {
			t.Run(name+"/"+string(apply), func(t *testing.T) {
				t.Parallel()
				findings, played, err := scenario(t, name, apply).Find(t.Context(), explore.Search{First: 1, Schedules: seeds})
				require.NoError(t, err)
				for _, finding := range findings {
					t.Errorf("seed %d: %s", finding.Seed, finding.Text())
				}
				require.True(t, len(findings) > 0 || played == seeds)
			})
		}
	}
}

// TestSeedDecidesAll plays schedules twice, and once more as they were written
// down.
func TestSeedDecidesAll(t *testing.T) {
	if testing.Short() && testenv.Kind() == "" {
		t.Skip("it takes long: make cover")
	}
	for _, name := range scenarioNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seeds := uint64(2)
			if testing.Short() {
				seeds = 1
			}
			for seed := range seeds {
				once, schedule, err := scenario(t, name, player.DynamicApply).Chance(seed + 1)
				require.NoError(t, err)
				again, same, err := scenario(t, name, player.DynamicApply).Chance(seed + 1)
				require.NoError(t, err)
				require.Equal(t, schedule.String(), same.String())
				require.Equal(t, once.World.Objects(), again.World.Objects())
				read, err := explore.ParseSchedule(schedule.String())
				require.NoError(t, err)
				replayed := scenario(t, name, player.DynamicApply).Play(read)
				require.Equal(t, once.World.Objects(), replayed.World.Objects())
				require.Equal(t, once.Broken, replayed.Broken)
			}
		})
	}
}
