package metacontroller

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// withStatus returns a hook that answers a status.
func withStatus(status map[string]any) Controller {
	return controllerOf(func(_ *greeting, _ Observed) (greetingResult, error) {
		return greetingResult{Status: status}, nil
	})
}

// TestAStatusThatCannotBeStoredIsRefused, and the error names what is so long.
func TestAStatusThatCannotBeStoredIsRefused(t *testing.T) {
	names := make([]string, 120_000)
	for i := range names {
		names[i] = fmt.Sprintf("web-%08d", i)
	}
	_, err := withStatus(map[string]any{"former": names, "phase": "Ready"}).Call(SyncHook, time.Now(), ask(false, "", ""))
	require.EqualError(t, err, "the status would have 1800028 bytes, 1800001 of them in status.former, and no more than 1048576 can be stored: make the spec ask for less")
	_, err = withStatus(map[string]any{"former": names[:10_000], "phase": "Ready"}).Call(SyncHook, time.Now(), ask(false, "", ""))
	require.NoError(t, err)
}

// TestALongStatusStopsNoTeardown, whoever has written it, and is cut no more than it
// has to be.
func TestALongStatusStopsNoTeardown(t *testing.T) {
	list := func(n int) []string { return strings.Split(strings.Repeat("web-00000000,", n), ",") }
	short := map[string]any{}
	for i := range 120_000 {
		short[fmt.Sprintf("m%08d", i)] = 1
	}
	for name, c := range map[string]struct{ status, want map[string]any }{
		"a list":        {map[string]any{"a": list(120_000), "b": list(3), "phase": "Ready"}, map[string]any{"a": []string{}, "b": list(3), "phase": "Ready"}},
		"two lists":     {map[string]any{"a": list(90_000), "b": list(100_000), "c": list(3)}, map[string]any{"a": []string{}, "b": []string{}, "c": list(3)}},
		"an object":     {map[string]any{"a": map[string]any{"b": list(120_000)}, "c": 1}, map[string]any{"a": map[string]any{}, "c": 1}},
		"short members": {short, map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := json.Marshal(c.want)
			require.NoError(t, err)
			own := withStatus(c.status)
			answer, err := own.Call(FinalizeHook, time.Now(), ask(true, "", ""))
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(lookup(answer.Body, "status")))
			own.Finalize = Hook{} // the status is what was sent
			status, err := json.Marshal(c.status)
			require.NoError(t, err)
			answer, err = own.Call(FinalizeHook, time.Now(), []byte(strings.Replace(string(ask(true, "", "")), `{"old":true}`, string(status), 1)))
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(lookup(answer.Body, "status")))
		})
	}
}

// TestAParentWithoutRoomForItsStatusIsRefused, so that no hook waits the time of a first
// try for ever because its status is lost. Its labels are what a schema does not bound.
func TestAParentWithoutRoomForItsStatusIsRefused(t *testing.T) {
	labelled := func(bytes int, finalizing bool) []byte {
		return []byte(strings.Replace(string(ask(finalizing, "", "")), `"name":"hi"`, `"name":"hi","labels":{"a":"`+strings.Repeat("x", bytes)+`"}`, 1))
	}
	own := withStatus(map[string]any{"former": strings.Split(strings.Repeat("web-00000000,", 7_000), ",")})
	require.Greater(t, len(labelled(1, false)), len(ask(false, "", "")))
	_, err := own.Call(SyncHook, time.Now(), labelled(1_200_000, false))
	require.NoError(t, err)
	_, err = own.Call(SyncHook, time.Now(), labelled(1_350_000, false))
	require.ErrorContains(t, err, "and the API server stores a status up to 1441792: make the spec, the labels or the annotations smaller")
	require.True(t, IsRequestError(err))
	_, err = own.Call(FinalizeHook, time.Now(), labelled(1_350_000, true))
	require.NoError(t, err)
}
