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

// adopted returns finished Jobs that somebody has had the Build adopt.
func adopted(request object, count int) {
	for n := range count {
		at := time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC).Format(time.RFC3339)
		put(request, "children", jobs, object{
			"apiVersion": "batch/v1", "kind": "Job", "spec": object{},
			"metadata": object{
				"name": fmt.Sprintf("shop-%010x", n), "namespace": "default", "uid": fmt.Sprint(n),
				"annotations": object{revisionAnnotation: strings.Repeat(nasty, 5)},
			},
			"status": object{"conditions": []any{object{"type": "Failed", "status": "True", "reason": nasty, "lastTransitionTime": at}}},
		})
	}
}

// TestHistoryIsBoundedWhateverIsAdopted has the Build adopt more finished Jobs than
// any limit allows: the status stays small, and the Jobs go down to the limit
// without another look.
func TestHistoryIsBoundedWhateverIsAdopted(t *testing.T) {
	for _, limit := range []int{0, 3, 20} {
		first := firstBuild(t)
		request := decoded(t, first.Case)
		request["parent"].(object)["spec"].(object)["historyLimit"] = float64(limit)
		delete(request, "children")
		adopted(request, 60)
		got, err := ask(t, first.Case, request)
		require.NoError(t, err)
		require.Len(t, got.status.History, max(10, limit))
		requireClean(t, "adopted", got)
		require.Len(t, got.kept(), max(10, limit), "those of which the result is to be told")
		require.Equal(t, limit < 10, strings.Contains(got.body, `"resyncAfterSeconds":2}`))

		request["parent"].(object)["status"] = encodedStatus(t, got.status)
		told, err := ask(t, first.Case, request)
		require.NoError(t, err)
		require.Len(t, told.kept(), limit)
		require.Equal(t, got.status.History, told.status.History)
		require.NotContains(t, told.body, `"resyncAfterSeconds":2}`, "nothing is left to be told")
	}
}

// TestStatusOfAnOlderReleaseIsCleaned sends a status that holds what a user could
// once have written into it.
func TestStatusOfAnOlderReleaseIsCleaned(t *testing.T) {
	first := firstBuild(t)
	request := decoded(t, first.Case)
	request["parent"].(object)["status"] = object{"history": []any{
		object{"hash": "", "result": "Succeeded", "revision": "x"},
		object{"hash": "0123456789", "result": "Failed", "revision": strings.Repeat(nasty, 50), "message": nasty},
		object{"hash": hashOf(first), "result": "Succeeded", "revision": nasty},
	}}
	got, err := ask(t, first.Case, request)
	require.NoError(t, err)
	require.Len(t, got.status.History, 2)
	requireClean(t, "old", got)
	require.Contains(t, got.status.Conditions[0].Message, "revision v1 was built")
	request["parent"].(object)["status"] = encodedStatus(t, got.status)
	again, err := ask(t, first.Case, request)
	require.NoError(t, err)
	require.Equal(t, got.status.History, again.status.History)
}

// TestRevisionIsWhatTheCloneFetches has the annotation say another one.
func TestRevisionIsWhatTheCloneFetches(t *testing.T) {
	for _, revision := range []string{"v0", "a$$b$(c)", "größe"} {
		first := firstBuild(t)
		request := decoded(t, first.Case)
		delete(request, "children")
		adopted(request, 1)
		job := group(request, "children", jobs)["default/shop-0000000000"].(object)
		job["spec"] = object{"template": object{"spec": object{"initContainers": []any{
			object{"name": "other", "env": []any{object{"name": "REVISION", "value": "other"}}},
			object{"name": "clone", "env": []any{object{"name": "REVISION", "value": strings.NewReplacer("$$", "$$$$", "$(", "$$(").Replace(revision)}}},
		}}}}
		got, err := ask(t, first.Case, request)
		require.NoError(t, err)
		require.Equal(t, revision, got.status.History[0].Revision)
	}
}

func encodedStatus(t testing.TB, status build.Status) object {
	encoded, err := json.Marshal(status)
	require.NoError(t, err)
	var decoded object
	require.NoError(t, json.Unmarshal(encoded, &decoded))
	return decoded
}
