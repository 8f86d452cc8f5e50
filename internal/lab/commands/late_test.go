package commands

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/lab/run"
)

// TestLateWorldsPlayTheSame: caches that only actions delay change nothing by themselves.
func TestLateWorldsPlayTheSame(t *testing.T) {
	files, err := filepath.Glob("../../../deploy/samples/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		for _, apply := range []player.Strategy{player.DynamicApply, player.ServerSideApply} {
			var texts []string
			for _, late := range []bool{false, true} {
				p := &program{Program: &cli.Program{}}
				list, err := p.readDocuments(file)
				require.NoError(t, err)
				world := player.New(player.Options{Controllers: hooks.All(), Simulation: invariants.All(), Call: player.Direct(hooks.All()...), Apply: apply, Late: late})
				for _, d := range list {
					require.NoError(t, world.Apply(d.json))
				}
				require.NoError(t, world.Play())
				var text bytes.Buffer
				(&run.Printer{Out: &text}).Outcomes(world)
				texts = append(texts, text.String())
			}
			require.Equal(t, texts[0], texts[1], file)
		}
	}
}
