package dataservice_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/dataservice"
	"github.com/operetta-dev/operetta/metacontroller"
)

const componentLabel = "d3os-product.com.d3os/component"

// changed returns the converged request after a change of its parent's spec and
// of its children.
func changed(t *testing.T, changeSpec func(spec map[string]any), changeChild func(kind, name, component string, child map[string]any) (stays bool)) (request []byte, now time.Time) {
	body, now := converged(t)
	var parsed map[string]any
	require.NoError(t, json.Unmarshal(body, &parsed))
	changeSpec(parsed["parent"].(map[string]any)["spec"].(map[string]any))
	for _, group := range parsed["children"].(map[string]any) {
		group := group.(map[string]any)
		for key, child := range group {
			child := child.(map[string]any)
			metadata := child["metadata"].(map[string]any)
			component, _ := metadata["labels"].(map[string]any)[componentLabel].(string)
			if !changeChild(child["kind"].(string), metadata["name"].(string), component, child) {
				delete(group, key)
			}
		}
	}
	body, err := json.Marshal(parsed)
	require.NoError(t, err)
	return body, now
}

// TestLabelThatIsGoneTakesNothingAway takes the labels off the children of a
// component whose gate is closed: what has been started stays.
func TestLabelThatIsGoneTakesNothingAway(t *testing.T) {
	for name, relabel := range map[string]func(labels map[string]any){
		"gone":    func(labels map[string]any) { delete(labels, componentLabel) },
		"unknown": func(labels map[string]any) { labels[componentLabel] = "forged" },
		"another": func(labels map[string]any) { labels[componentLabel] = "gateway-master" },
	} {
		t.Run(name, func(t *testing.T) {
			want := 0
			body, now := changed(t, func(map[string]any) {}, func(kind, name, component string, child map[string]any) bool {
				want++
				if component == "web" {
					relabel(child["metadata"].(map[string]any)["labels"].(map[string]any))
				}
				if kind == "Deployment" && name == "gateway-web" {
					child["status"].(map[string]any)["readyReplicas"] = 0
				}
				return true
			})
			answer, err := dataservice.Controller().Call(metacontroller.SyncHook, now, body)
			require.NoError(t, err)
			require.Len(t, answer.Children, want)
		})
	}
}
