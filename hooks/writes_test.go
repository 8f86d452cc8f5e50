package hooks_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/operettatest"
)

// TestStatusWrites counts how often the status of a custom resource is written when it is
// created, and when it gets another image. That a Ready one has none is checked at the end
// of each simulation.
func TestStatusWrites(t *testing.T) {
	for kind, most := range map[string]struct{ created, updated int }{
		"Build": {4, 5}, "DataService": {5, 2}, "ModelBox": {2, 4}, "MyJob": {created: 3}, "PodBuggerTool": {4, 1}, "PodSet": {3, 7},
	} {
		if !testenv.Selected(strings.ToLower(kind)) {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile("../deploy/samples/" + strings.ToLower(kind) + ".yaml")
			require.NoError(t, err)
			w := operettatest.NewWorld(t, operettatest.Options{Simulation: invariants.All()}, hooks.All()...)
			written := func(text string) int {
				before := len(w.Events())
				w.Apply(text)
				w.Play()
				count := 0
				for _, event := range w.Events()[before:] {
					if event.Verb == operettatest.Reported && event.Object.GetKind() == kind {
						count++
					}
				}
				return count
			}
			require.Equal(t, most.created, written(string(text)), "created")
			if most.updated > 0 { // the template of a MyJob cannot be changed
				require.Equal(t, most.updated, written(strings.Replace(string(text), "image: ", "image: mirror/", 1)), "updated")
			}
		})
	}
}
