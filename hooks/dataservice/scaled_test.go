package dataservice_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/dataservice"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// TestScaleToZeroTakesNothingAway is an attack: whoever may scale the workload of
// a renamed component sets it to 0, where it counts as ready. The old one is all
// that serves then, and has to stay.
func TestScaleToZeroTakesNothingAway(t *testing.T) {
	small := func(name string) string {
		return `{"apiVersion": "d3os-product.com.d3os/v1", "kind": "DataService", "metadata": {"name": "small"},
			"spec": {"eureka": {"name": "` + name + `", "image": "eureka", "replica": 1}}}`
	}
	scaled := 0
	scaling := func(direct operettatest.Call) operettatest.Call {
		return func(now time.Time, path string, body []byte) (int, []byte, error) {
			var request map[string]any
			require.NoError(t, json.Unmarshal(body, &request))
			children, _ := request["children"].(map[string]any)
			deployments, _ := children["Deployment.apps/v1"].(map[string]any)
			if fresh, found := deployments["default/fresh"].(map[string]any); found && deployments["default/eureka"] != nil {
				fresh["spec"].(map[string]any)["replicas"] = 0
				fresh["metadata"].(map[string]any)["generation"] = 7
				fresh["status"] = map[string]any{"observedGeneration": 7}
				changed, err := json.Marshal(request)
				require.NoError(t, err)
				status, answer, err := direct(now, path, changed)
				require.NoError(t, err)
				require.Equal(t, 200, status, string(answer))
				require.Equal(t, 2, strings.Count(string(answer), `{"apiVersion":"apps/v1","kind":"Deployment"`), "the old one stays: %s", answer)
				scaled++
			}
			return direct(now, path, body)
		}
	}
	world := operettatest.NewWorld(t, operettatest.Options{Around: scaling}, dataservice.Controller())
	for _, name := range []string{"eureka", "fresh"} {
		world.Apply(small(name))
		world.Play()
	}
	require.Positive(t, scaled)
	require.Nil(t, world.Get("Deployment/eureka"), "it goes in the end")
}

// TestStatusOfATeardownIsBounded whatever labels strangers write onto their Pods.
func TestStatusOfATeardownIsBounded(t *testing.T) {
	var request map[string]any
	body, now := converged(t)
	require.NoError(t, json.Unmarshal(body, &request))
	request["finalizing"] = true
	pods := map[string]any{}
	for i := range 5000 {
		name := fmt.Sprintf("stranger-%d", i)
		pods["default/"+name] = map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{
			"name": name, "namespace": "default", "uid": name,
			"labels":          map[string]any{componentLabel: fmt.Sprintf("%060d", i)},
			"ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "x", "controller": true}},
		}}
	}
	request["related"].(map[string]any)["Pod.v1"] = pods
	changed, err := json.Marshal(request)
	require.NoError(t, err)
	answer, err := dataservice.Controller().Call(metacontroller.FinalizeHook, now, changed)
	require.NoError(t, err)
	var response struct{ Status json.RawMessage }
	require.NoError(t, json.Unmarshal(answer.Body, &response))
	require.Less(t, len(response.Status), 64<<10)
	require.NotContains(t, string(response.Status), "stranger")
}
