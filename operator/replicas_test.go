package operator

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
)

// areOurs asks about the replicas of a Deployment with such metadata, in a hook.
func areOurs(t *testing.T, annotations map[string]string, managedFields string) bool {
	ours := false
	type parent struct {
		APIVersion string `json:"apiVersion"`
	}
	type result = metacontroller.Result[map[string]any]
	controller := metacontroller.Controller{
		Parent:   metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Toy", Plural: "toys"},
		Children: []metacontroller.Child{{Resource: metacontroller.Resource{APIVersion: "apps/v1", Kind: "Deployment", Plural: "deployments"}, Update: metacontroller.InPlace}},
		Sync: metacontroller.Sync(func(_ *parent, seen metacontroller.Observed) (result, error) {
			deployment, _ := seen.Children.Find("apps/v1", "Deployment", "web")
			ours = deployment.HasApplied("spec", "replicas")
			return result{Status: map[string]any{}, Children: []metacontroller.Object{metacontroller.Keep(deployment)}}, nil
		}),
	}
	text, err := json.Marshal(annotations)
	require.NoError(t, err)
	request := `{"parent":{"apiVersion":"example.com/v1","kind":"Toy","metadata":{"name":"toy"}},"children":{"Deployment.apps/v1":{"web":
		{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","annotations":` + string(text) + `,"managedFields":` + managedFields + `}}}}}`
	_, err = controller.Call(metacontroller.SyncHook, time.Unix(0, 0), []byte(request))
	require.NoError(t, err)
	return ours
}

func TestReplicasThatWereApplied(t *testing.T) {
	const (
		applied = `[{"operation":"Apply","fieldsV1":{"f:spec":{"f:replicas":{}}}}]`
		updated = `[{"operation":"Update","fieldsV1":{"f:metadata":{"f:annotations":{"f:operetta.dev/hash":{}}},"f:spec":{"f:replicas":{}}}}]`
		scaled  = `[{"operation":"Update","subresource":"scale","fieldsV1":{"f:spec":{"f:replicas":{}}}},{"operation":"Update","fieldsV1":{"f:spec":{"f:replicas":{}}}}]`
		damaged = `[{"operation":"Apply","fieldsV1":7},{"operation":"Apply"},{"operation":"Apply","fieldsV1":{"f:spec":[]}}]`
	)
	unreadable := []string{"", "{", "[]", "null", "7", `{"spec":7}`, strings.Repeat("x", 255<<10)}
	annotated := func(text string) map[string]string {
		return map[string]string{metacontroller.LastAppliedAnnotation: text}
	}
	require.True(t, areOurs(t, annotated(`{"spec":{"replicas":2}}`), `[]`))
	require.False(t, areOurs(t, annotated(`{"spec":{}}`), applied), "the annotation tells, and has none")
	require.False(t, areOurs(t, annotated(`{}`), applied))
	for _, text := range unreadable {
		require.True(t, areOurs(t, annotated(text), applied), text)
		require.True(t, areOurs(t, annotated(text), updated), text)
		require.False(t, areOurs(t, annotated(text), scaled), text)
		require.False(t, areOurs(t, annotated(text), damaged), text)
		require.False(t, areOurs(t, annotated(text), `[]`), text)
	}
	require.True(t, areOurs(t, nil, applied))
	require.False(t, areOurs(t, nil, scaled))
}

// TestAKeptWorkloadIsScaled: it says what is observed of the fields that were applied, and differs
// in the number of replicas alone.
func TestAKeptWorkloadIsScaled(t *testing.T) {
	type parent struct {
		APIVersion string `json:"apiVersion"`
	}
	type result = metacontroller.Result[map[string]any]
	answered := func(keep func(metacontroller.Snapshot) metacontroller.Object) (child map[string]any, updated int) {
		controller := metacontroller.Controller{
			Parent:   metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Toy", Plural: "toys"},
			Children: []metacontroller.Child{{Resource: metacontroller.ReplicaSet, Update: metacontroller.InPlace}},
			Sync: metacontroller.Sync(func(_ *parent, seen metacontroller.Observed) (result, error) {
				set, _ := seen.Children.Find("apps/v1", "ReplicaSet", "web")
				return result{Children: []metacontroller.Object{keep(set)}}, nil
			}),
		}
		answer, err := controller.Call(metacontroller.SyncHook, time.Unix(0, 0), []byte(`{
			"parent": {"apiVersion": "example.com/v1", "kind": "Toy", "metadata": {"name": "toy"}},
			"children": {"ReplicaSet.apps/v1": {"web": {"apiVersion": "apps/v1", "kind": "ReplicaSet",
				"metadata": {"name": "web", "labels": {"team": "theirs"}, "annotations": {"operetta.dev/hash": "0123456789abcdef",
					"metacontroller.k8s.io/last-applied-configuration": "{\"spec\":{\"replicas\":2,\"template\":{\"spec\":{\"hostname\":\"a\"}}}}"}},
				"spec": {"replicas": 3, "template": {"spec": {"hostname": "b", "restartPolicy": "Always"}}}}}}}`))
		require.NoError(t, err)
		var body struct {
			Children []map[string]any `json:"children"`
		}
		require.NoError(t, json.Unmarshal(answer.Body, &body))
		return body.Children[0], answer.Changes.Updated
	}
	kept, updated := answered(metacontroller.Keep)
	require.Zero(t, updated)
	spec := kept["spec"].(map[string]any)
	require.Equal(t, map[string]any{"replicas": 3.0, "template": map[string]any{"spec": map[string]any{"hostname": "b"}}}, spec)
	for replicas, want := range map[int32]int{0: 1, 3: 0} {
		scaled, updated := answered(func(set metacontroller.Snapshot) metacontroller.Object { return KeepScaled(set, replicas) })
		require.Equal(t, want, updated)
		spec["replicas"] = float64(replicas)
		require.Equal(t, kept, scaled)
	}
}
