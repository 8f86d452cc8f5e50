package commands

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkEdit plays each sample as the page does after an edit, the answer included. p95-ms is to
// stay below 300.
func BenchmarkEdit(b *testing.B) {
	for _, path := range samplePaths(b) {
		b.Run(filepath.Base(path), func(b *testing.B) {
			p, scenario := samplePlayer(b), scenarioOf(b, []string{path})
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				run, err := p.Run(b.Context(), scenario)
				require.NoError(b, err)
				_, err = json.Marshal(run)
				require.NoError(b, err)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
