package build_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/build"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestHistoryIsBoundedByTheHook sends a limit that the schema refuses: the status
// must not grow with every build for ever.
func TestHistoryIsBoundedByTheHook(t *testing.T) {
	for limit, most := range map[int]int{-1: 10, 0: 10, 3: 10, 50: 50, 2_000_000_000: 50} {
		var history []string
		for n := range 200 {
			history = append(history, fmt.Sprintf(`{"hash":"%016x","revision":"r%d","result":"Succeeded","completionTime":"2026-01-01T%02d:%02d:00Z"}`, n, n, n/60, n%60))
		}
		request := fmt.Sprintf(`{"controller":{},"parent":{"apiVersion":"ci.zt.vapi.cc/v1","kind":"Build","metadata":{"name":"app","namespace":"default","uid":"1"},`+
			`"spec":{"source":{"git":{"url":"https://example.com/app.git","revision":"main"}},"image":"golang:1.26","command":["make"],"historyLimit":%d},"status":{"history":[%s]}},`+
			`"children":{"Job.batch/v1":{}},"related":{"Pod.v1":{}},"finalizing":false}`, limit, strings.Join(history, ","))
		declared := build.Controller()
		hook := metacontroller.Controller{Parent: declared.Parent, Children: declared.Children, Related: declared.Related, Sync: declared.Sync}
		answer, err := hook.Call(metacontroller.SyncHook, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), []byte(request))
		require.NoError(t, err)
		var got struct{ Status build.Status }
		require.NoError(t, json.Unmarshal(answer.Body, &got))
		require.Equal(t, most, len(got.Status.History), limit)
	}
}
