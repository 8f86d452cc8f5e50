package hooks_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
	"github.com/operetta-dev/operetta/operettatest"
)

// TestRestChangesNothing: when all has come to rest, each answer says that it changes
// nothing. The log and the metrics tell by this who is at work.
func TestRestChangesNothing(t *testing.T) {
	samples, err := filepath.Glob("../deploy/samples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	for _, sample := range samples {
		t.Run(filepath.Base(sample), func(t *testing.T) {
			kind, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(sample), ".yaml"), "-")
			if !testenv.Selected(kind) || !testenv.Often(filepath.Base(sample), 3) {
				t.Skip("of another kind, or one of two in three that the inner loop leaves out")
			}
			t.Parallel()
			text, err := os.ReadFile(sample)
			require.NoError(t, err)
			last, changing := map[string]metacontroller.Answer{}, 0
			around := func(direct operettatest.Call) operettatest.Call {
				return func(now time.Time, path string, body []byte) (int, []byte, error) {
					for _, c := range hooks.All() {
						if path == "/"+c.Name()+"/sync" {
							answer, err := c.Call(metacontroller.SyncHook, now, body)
							require.NoError(t, err)
							last[path+answer.Parent.Name] = answer
							if answer.Changes.Any() {
								changing++
							}
						}
					}
					return direct(now, path, body)
				}
			}
			w := operettatest.NewWorld(t, operettatest.Options{Around: around, Simulation: invariants.All()}, hooks.All()...)
			w.Apply(string(text))
			w.Play()
			require.Positive(t, changing)
			require.NotEmpty(t, last)
			for parent, answer := range last {
				require.Equal(t, metacontroller.Changes{}, answer.Changes, parent)
				require.Equal(t, "True", answer.Ready.Status, parent)
			}
		})
	}
}

// TestEveryReasonIsDeclared: metrics count what is not as Other.
func TestEveryReasonIsDeclared(t *testing.T) {
	written := []string{"OutOfnvidia_com_gpu"} // by the kubelet, after what a user has named
	for _, c := range hooks.All() {
		known := slices.Concat(operator.Reasons(), c.Reasons)
		seen := map[string]bool{}
		files, err := filepath.Glob("../testdata/" + c.Name() + "/*/*.out.yaml")
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var answer struct {
				Status struct {
					Conditions []struct{ Type, Reason string }
				}
			}
			if !strings.Contains(string(text), "conditions:") {
				continue // an error, or one of customize
			}
			require.NoError(t, yaml.Unmarshal(text, &answer), file)
			for _, condition := range answer.Status.Conditions {
				if condition.Type == operator.ConditionReady && !slices.Contains(written, condition.Reason) {
					seen[condition.Reason] = true
					require.Contains(t, known, condition.Reason, file)
				}
			}
		}
		require.NotEmpty(t, seen, c.Name())
	}
}
