package player_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// TestADifferenceFarDownTakesLittle: there may be thousands of levels, and the path to it is as long.
func TestADifferenceFarDownTakesLittle(t *testing.T) {
	of := func(value any) *unstructured.Unstructured {
		for range 5_000 {
			value = map[string]any{strings.Repeat("k", 200): value}
		}
		return &unstructured.Unstructured{Object: map[string]any{"spec": value}}
	}
	event := player.Event{Verb: player.Changed, Before: of("a"), Object: of("b")}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	paths := event.Paths()
	runtime.ReadMemStats(&after)
	require.Len(t, paths, 1)
	require.Less(t, len(paths[0]), 1000)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
}
