package podset_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestTheLongestNamesHaveRoom asks about the largest PodSet with the longest name:
// what the CRD admits is no error, and its status can be stored.
func TestTheLongestNamesHaveRoom(t *testing.T) {
	name := strings.Repeat("n", 57)
	pods := map[string]any{}
	for i := range 5000 {
		pod := fmt.Sprintf("%s-%d", name, i)
		pods["default/"+pod] = map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{"name": pod, "namespace": "default", "uid": pod, "creationTimestamp": "2026-01-01T00:00:00Z"},
			"spec":     map[string]any{"nodeName": "n"},
			"status":   map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
		}
	}
	request, err := json.Marshal(map[string]any{
		"parent": map[string]any{
			"apiVersion": "apps.jicki.cn/v1alpha1", "kind": "PodSet",
			"metadata": map[string]any{"name": name, "namespace": "default", "uid": "u", "generation": 1},
			"spec":     map[string]any{"size": 5000},
		},
		"children": map[string]any{"Pod.v1": pods}, "related": map[string]any{}, "finalizing": false,
	})
	require.NoError(t, err)
	answer, err := podset.Controller().Call(metacontroller.SyncHook, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), request)
	require.NoError(t, err)
	var response struct{ Status json.RawMessage }
	require.NoError(t, json.Unmarshal(answer.Body, &response))
	require.Less(t, len(response.Status), 1<<20)
}
