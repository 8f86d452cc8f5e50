package metacontroller

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/rawjson"
)

// TestReplicasOfOthersStay: a hook that leaves the number of replicas out never scales to the
// default, whether or not it compares, and its hash never has the number.
func TestReplicasOfOthersStay(t *testing.T) {
	bare := func() Object {
		d := &appsv1.Deployment{}
		d.Name, d.Spec.MinReadySeconds = "web", 3
		return d
	}
	written := func() Object {
		d := bare().(*appsv1.Deployment)
		d.Spec.Replicas = new(int32(2))
		return d
	}
	untyped := func(kind string, spec map[string]any) func() Object {
		return func() Object {
			return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": "web"}, "spec": spec}}
		}
	}
	const (
		annotated = `"annotations":{"metacontroller.k8s.io/last-applied-configuration":"{\"spec\":{\"replicas\":3}}"}`
		managed   = `"managedFields":[{"operation":"Apply","fieldsV1":{"f:spec":{"f:replicas":{}}}}]`
		scaled    = `"managedFields":[{"operation":"Apply","fieldsV1":{"f:spec":{"f:template":{}}}},{"operation":"Update","subresource":"scale","fieldsV1":{"f:spec":{"f:replicas":{}}}}]`
	)
	for name, c := range map[string]struct {
		child                      func() Object
		kind, metadata, spec, want string
	}{
		"it was applied":                {bare, "Deployment", annotated, `{"replicas":5}`, `{"replicas":5,"minReadySeconds":3}`},
		"it was applied on the server":  {bare, "Deployment", managed, `{"replicas":5}`, `{"replicas":5,"minReadySeconds":3}`},
		"an autoscaler has stopped it":  {bare, "Deployment", annotated, `{"replicas":0}`, `{"replicas":0,"minReadySeconds":3}`},
		"it never was":                  {bare, "Deployment", `"annotations":{}`, `{"replicas":5}`, `{"minReadySeconds":3}`},
		"an autoscaler has taken it":    {bare, "Deployment", scaled, `{"replicas":5}`, `{"minReadySeconds":3}`},
		"the hook says another":         {written, "Deployment", annotated, `{"replicas":5}`, `{"minReadySeconds":3,"replicas":2}`},
		"the observed one is damaged":   {bare, "Deployment", annotated, `{"replicas":"5"}`, `{"minReadySeconds":3}`},
		"the observed one is too large": {bare, "Deployment", annotated, `{"replicas":9999999999}`, `{"minReadySeconds":3}`},
		"there is none":                 {bare, "Deployment", annotated, `{}`, `{"minReadySeconds":3}`},
		"a StatefulSet":                 {untyped("StatefulSet", map[string]any{"serviceName": "x"}), "StatefulSet", annotated, `{"replicas":5}`, `{"replicas":5,"serviceName":"x"}`},
		"a ReplicaSet without a spec":   {untyped("ReplicaSet", map[string]any{}), "ReplicaSet", annotated, `{"replicas":5}`, `{"replicas":5}`},
		"a DaemonSet has no number":     {untyped("DaemonSet", map[string]any{}), "DaemonSet", annotated, `{"replicas":5}`, `{}`},
	} {
		for _, compares := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				controller := Controller{Parent: Resource{APIVersion: "example.com/v1", Kind: "Greeting", Plural: "greetings"}}
				kinds := map[string]Resource{"Deployment": Deployment, "ReplicaSet": ReplicaSet, "StatefulSet": StatefulSet, "DaemonSet": DaemonSet}
				controller.Children = []Child{{Resource: kinds[c.kind], Update: InPlace}}
				controller.Sync = Sync(func(_ *greeting, seen Observed) (greetingResult, error) {
					children := []Object{c.child()}
					if compares {
						_, err := seen.Compare(children)
						require.NoError(t, err)
					}
					return greetingResult{Status: map[string]any{}, Children: children}, nil
				})
				body, err := json.Marshal(map[string]any{
					"parent": map[string]any{"apiVersion": "example.com/v1", "kind": "Greeting", "metadata": map[string]any{"name": "hi", "namespace": "ns"}},
					"children": map[string]any{c.kind + ".apps/v1": map[string]any{"ns/web": json.RawMessage(
						`{"apiVersion":"apps/v1","kind":"` + c.kind + `","metadata":{"name":"web","namespace":"ns",` + c.metadata + `},"spec":` + c.spec + `}`)}},
				})
				require.NoError(t, err)
				answer, err := controller.Call(SyncHook, noon, body)
				require.NoError(t, err)
				var response struct{ Children []json.RawMessage }
				require.NoError(t, json.Unmarshal(answer.Body, &response))
				child := response.Children[0]
				require.Equal(t, c.want, string(rawjson.Lookup(child, "spec")))

				alone := c.child()
				require.NoError(t, Stamp(alone))
				hash, _ := rawjson.Text(rawjson.Lookup(child, "metadata", "annotations", HashAnnotation))
				require.Equal(t, alone.GetAnnotations()[HashAnnotation], hash)
			})
		}
	}
}
