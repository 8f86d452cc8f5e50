package dataservice_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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

// TestNameThatIsWantedLaterTakesNothingAway renames a component and gives its old
// name to another, which has to wait.
func TestNameThatIsWantedLaterTakesNothingAway(t *testing.T) {
	var old []string
	body, now := changed(t, func(spec map[string]any) {
		spec["web"].(map[string]any)["name"] = "front"
		spec["gateway-master"].(map[string]any)["name"] = "web"
	}, func(kind, name, component string, child map[string]any) bool {
		if component == "web" {
			old = append(old, kind+"/"+name)
		}
		if kind == "Deployment" && name == "proxy" {
			child["status"].(map[string]any)["readyReplicas"] = 0 // gateway-master waits for it
		}
		return component != "gateway-master"
	})
	answer, err := dataservice.Controller().Call(metacontroller.SyncHook, now, body)
	require.NoError(t, err)
	var kept []string
	for _, child := range answer.Children {
		if child.Kept {
			kept = append(kept, child.Kind+"/"+child.Name)
		}
	}
	require.ElementsMatch(t, old, kept)
}

// TestOldNameIsKnownWithoutLabels renames a component twice, and takes the labels
// off all that it was before the new one is ready.
func TestOldNameIsKnownWithoutLabels(t *testing.T) {
	request, now := converged(t)
	status := func(parsed object) object {
		return parsed["parent"].(map[string]any)["status"].(map[string]any)
	}
	for _, name := range []string{"front", "face"} {
		var parsed, response map[string]any
		require.NoError(t, json.Unmarshal(request, &parsed))
		parsed["parent"].(map[string]any)["spec"].(map[string]any)["web"].(map[string]any)["name"] = name
		for _, child := range childrenIn(parsed) {
			if labels := within(child, "labels"); labels[componentLabel] == "web" {
				delete(labels, componentLabel)
			}
		}
		request, err := json.Marshal(parsed)
		require.NoError(t, err)
		answer, err := dataservice.Controller().Call(metacontroller.SyncHook, now, request)
		require.NoError(t, err)
		for _, old := range []string{"Deployment/web", "Service/web", "ConfigMap/web", "ConfigMap/web-template"} {
			require.True(t, slices.ContainsFunc(answer.Children, func(c metacontroller.AnsweredChild) bool { return c.Kept && c.Kind+"/"+c.Name == old }), old)
		}
		require.NoError(t, json.Unmarshal(answer.Body, &response))
		parsed["parent"].(map[string]any)["status"] = response["status"]
		require.Contains(t, fmt.Sprint(status(parsed)["components"]), "formerNames:[web]")
	}
}

// TestEditOfOneChildCostsNoOther lets a user write onto one child at a time while
// Pods of another component fail: nothing else may go, nor the child itself, unless
// it claims to be what another component has outgrown.
func TestEditOfOneChildCostsNoOther(t *testing.T) {
	body, now := converged(t)
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"", "forged", "mysql", "eureka", "web", "{", `{"spec":{"replicas":1}}`}
	edits := 100
	if testing.Short() {
		edits = 40
	}
	for range edits {
		var request map[string]any
		require.NoError(t, json.Unmarshal(body, &request))
		var children, deployments []map[string]any
		for _, kind := range slices.Sorted(maps.Keys(request["children"].(map[string]any))) {
			group := request["children"].(map[string]any)[kind].(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(group)) {
				children = append(children, group[key].(map[string]any))
				if kind == "Deployment.apps/v1" {
					deployments = append(deployments, group[key].(map[string]any))
				}
			}
		}
		deployments[random.IntN(len(deployments))]["status"].(map[string]any)["readyReplicas"] = 0
		edited := children[random.IntN(len(children))]
		metadata := edited["metadata"].(map[string]any)
		labels, annotations := metadata["labels"].(map[string]any), metadata["annotations"].(map[string]any)
		at, text := labels, words[random.IntN(len(words))]
		if random.IntN(2) == 0 {
			at = annotations
		}
		names := slices.Sorted(maps.Keys(at))
		name := names[random.IntN(len(names))]
		at[name] = text
		if random.IntN(4) == 0 {
			delete(at, name)
		}
		changed, err := json.Marshal(request)
		require.NoError(t, err)
		answer, err := dataservice.Controller().Call(metacontroller.SyncHook, now, changed)
		if err != nil {
			continue // nothing is lost by an error
		}
		gone := len(children) - len(answer.Children)
		claims, _ := labels[componentLabel].(string)
		if slices.Contains([]string{"mysql", "eureka", "web"}, claims) {
			gone = max(0, gone-1)
		}
		require.Zero(t, gone, "%s/%s with %s %q", edited["kind"], metadata["name"], name, text)
	}
}
