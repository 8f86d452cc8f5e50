package workbench

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/record"
)

// outline is what an answer says, apart from what a recording replaces.
type outline struct {
	Children   []string
	Conditions []string
	Resync     float64
	Rules      int
}

var hashInName = regexp.MustCompile(`[0-9a-f]{8,}`)

func outlineOf(t *testing.T, answer []byte) outline {
	t.Helper()
	var response struct {
		Children []struct {
			Kind     string
			Metadata struct{ Name string }
		}
		Status struct {
			Conditions []struct{ Type, Status, Reason, LastTransitionTime string }
		}
		ResyncAfterSeconds float64
		RelatedResources   []any
	}
	require.NoError(t, json.Unmarshal(answer, &response))
	out := outline{Resync: response.ResyncAfterSeconds, Rules: len(response.RelatedResources)}
	for _, child := range response.Children {
		out.Children = append(out.Children, child.Kind+"/"+hashInName.ReplaceAllString(child.Metadata.Name, "#"))
	}
	slices.Sort(out.Children)
	for _, c := range response.Status.Conditions {
		out.Conditions = append(out.Conditions, fmt.Sprint(c))
	}
	return out
}

// differ are the cases of which a recording asks something else, with the reason.
var differ = map[string]string{
	"myjob/sync/refused-pod-has-a-reason-that-can-be-stored": "the reason is no word, and is replaced",
	// Which Pods a tool has tried is remembered beside a hash of its spec, and no
	// answer to the masked spec tells the new one while those Pods do not match.
	"podbuggertool/sync/failed-job-beyond-max-pods-is-remembered":                   "remembered by a hash",
	"podbuggertool/sync/failed-job-of-a-pod-that-left-stays-until-it-is-remembered": "remembered by a hash",
	"podbuggertool/sync/pod-that-is-back-is-not-tried-again":                        "remembered by a hash",
	"podbuggertool/sync/pod-that-is-back-keeps-its-place":                           "remembered by a hash",
}

// TestRecordingsAskTheSame records every golden case, and asks for what is
// recorded: though nearly all strings are replaced, the hook decides the same.
func TestRecordingsAskTheSame(t *testing.T) {
	cases, err := corpus.Read("../../../testdata", hooks.All())
	require.NoError(t, err)
	total, same := 0, 0
	for i, c := range cases {
		if testing.Short() && i%15 != 0 { // make cover records all
			continue
		}
		answer, err := c.Call()
		if err != nil {
			continue // only what is answered is recorded
		}
		total++
		dir := t.TempDir()
		r, err := record.New(dir, slog.New(slog.NewTextHandler(io.Discard, nil)))
		require.NoError(t, err)
		r.Record(record.Exchange{Controller: c.Controller, Hook: c.Hook, Now: c.Now, Request: c.Request, Answer: answer.Body})
		r.Close()
		paths, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.out.yaml"))
		require.NoError(t, err)
		require.Len(t, paths, 1, "%s is not recorded", c.Name)
		text, err := os.ReadFile(paths[0])
		require.NoError(t, err)
		recorded, err := yaml.YAMLToJSON(text)
		require.NoError(t, err)
		if want, got := outlineOf(t, answer.Body), outlineOf(t, recorded); fmt.Sprint(want) != fmt.Sprint(got) {
			if differ[c.Name] == "" {
				t.Errorf("%s:\n want %v\n got  %v", c.Name, want, got)
			}
			continue
		}
		require.Empty(t, differ[c.Name], "%s is the same: take it from the list", c.Name)
		same++

		again, err := corpus.Read(dir, hooks.All())
		require.NoError(t, err)
		changes, err := changesOf(dir, again[0])
		require.NoError(t, err)
		require.Empty(t, changes, c.Name)
	}
	t.Logf("%d of %d cases", same, total)
	require.Positive(t, same)
}
