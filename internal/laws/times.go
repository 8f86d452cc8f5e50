package laws

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
)

const (
	// mostComputed is the limit for a call on a busy machine.
	mostComputed = 10 * time.Second
	// mostResync is the limit of ResyncAfter.
	mostResync = 24 * time.Hour
)

// strangeTimes are times that a wrong clock, or a user, may write into a
// status.
var strangeTimes = []string{"0001-01-01T00:00:00Z", "1677-09-21T00:12:43Z", "2262-04-11T23:47:17Z", "9999-12-31T23:59:59Z"}

// strangeNumbers are extreme numbers for the fields of a status.
var strangeNumbers = []float64{-1 << 31, -1, 0, 1<<31 - 1}

// strangeStatusEndsNoCall writes strange times into the status of the parent
// and into observed objects, and strange numbers into the status of the parent.
// Each call must end, with a ResyncAfter that is neither negative nor too long.
func strangeStatusEndsNoCall(t *testing.T, c corpus.Case, _ metacontroller.Answer) {
	if c.Hook == metacontroller.CustomizeHook {
		return
	}
	for _, strange := range strangeTimes {
		for _, member := range []string{"parent", "children", "related"} {
			requireEnds(t, c, member+" of "+strange, func(request map[string]any) {
				request[member] = replaceLeaves(request[member], func(leaf any) any {
					if text, isText := leaf.(string); isText {
						if _, err := time.Parse(time.RFC3339, text); err == nil {
							return strange
						}
					}
					return leaf
				})
			})
		}
	}
	for _, strange := range strangeNumbers {
		requireEnds(t, c, "a status with strange numbers", func(request map[string]any) {
			parent, _ := request["parent"].(map[string]any)
			if parent["status"] == nil {
				return
			}
			parent["status"] = replaceLeaves(parent["status"], func(leaf any) any {
				switch leaf.(type) {
				case int64, float64:
					return strange
				default:
					return leaf
				}
			})
		})
	}
}

// requireEnds changes a request, and fails unless the call ends with an answer or a refusal.
func requireEnds(t *testing.T, c corpus.Case, what string, change func(request map[string]any)) {
	t.Helper()
	if !testenv.Often(c.Name+what, 4) {
		return
	}
	next := c
	next.Request = changed(t, c, change)
	ctx, stop := context.WithTimeout(t.Context(), mostComputed)
	defer stop()
	answer, err := next.Controller.CallContext(ctx, next.Hook, next.Now, next.Request, metacontroller.Limits{})
	require.NoError(t, ctx.Err(), what)
	if metacontroller.IsRequestError(err) {
		return
	}
	require.NoError(t, err, what)
	RequireSafe(t, next.Controller, next.Hook, answer.Body)
	var response struct {
		After float64 `json:"resyncAfterSeconds"`
	}
	require.NoError(t, json.Unmarshal(answer.Body, &response), what)
	require.GreaterOrEqual(t, response.After, 0.0, what)
	require.LessOrEqual(t, response.After, mostResync.Seconds(), what)
}

// replaceLeaves returns a value with other leaves.
func replaceLeaves(at any, replace func(leaf any) any) any {
	switch at := at.(type) {
	case map[string]any:
		for key, value := range at {
			at[key] = replaceLeaves(value, replace)
		}
		return at
	case []any:
		for i, value := range at {
			at[i] = replaceLeaves(value, replace)
		}
		return at
	default:
		return replace(at)
	}
}
