package commands

import (
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/lab/diff"
	"github.com/operetta-dev/operetta/internal/record"
)

// TestEveryRecordingReplays records every golden case, and reads what is recorded as a case with
// the same answer.
func TestEveryRecordingReplays(t *testing.T) {
	cases, err := corpus.Read("../../../testdata", hooks.All())
	require.NoError(t, err)
	for i, c := range cases {
		if testing.Short() && i%15 != 0 { // make cover records all
			continue
		}
		answer, err := c.Call()
		if err != nil {
			continue // only what is answered is recorded
		}
		dir := t.TempDir()
		r, err := record.New(dir, slog.New(slog.NewTextHandler(io.Discard, nil)))
		require.NoError(t, err)
		r.Record(record.Exchange{Controller: c.Controller, Hook: c.Hook, Now: c.Now, Request: c.Request, Answer: answer.Body})
		r.Close()
		recording, err := diff.CompareRecording(dir, hooks.All())
		require.NoError(t, err)
		require.Equal(t, 1, recording.Cases, c.Name)
		require.Empty(t, recording.Changes, c.Name)
	}
}
