package metacontroller

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/operetta-dev/operetta/internal/rawjson"
)

// deployments returns an operator that keeps every Deployment that it observes.
func deployments() Controller {
	controller := Controller{
		Parent:   Resource{APIVersion: "example.com/v1", Kind: "Greeting", Plural: "greetings"},
		Children: []Child{{Resource: Resource{"apps/v1", "Deployment", "deployments"}, Update: InPlace}},
	}
	hook := func(_ *greeting, seen Observed) (greetingResult, error) {
		var children []Object
		for _, child := range seen.Children.All("apps/v1", "Deployment") {
			children = append(children, Keep(child))
		}
		return greetingResult{Status: map[string]any{}, Children: children}, nil
	}
	controller.Sync, controller.Finalize = Sync(hook), Finalize(hook)
	return controller
}

// liveDeployment is a Deployment as the API server returns it. An autoscaler has
// changed its replicas from 2 to 5, a mesh has added a container, and the API
// server has filled in what nobody wrote.
const liveDeployment = `{
	"apiVersion": "apps/v1", "kind": "Deployment",
	"metadata": {
		"name": "web", "namespace": "ns", "uid": "d", "resourceVersion": "7", "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z",
		"finalizers": ["example.com/hold"],
		"ownerReferences": [{"apiVersion": "example.com/v1", "kind": "Greeting", "name": "hi", "uid": "u", "controller": true}],
		"labels": {"app": "web", "controller-uid": "u", "team": "theirs"},
		"annotations": {"operetta.dev/hash": "0123456789abcdef", "deployment.kubernetes.io/revision": "3"%s}%s
	},
	"spec": {
		"replicas": 5, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
		"selector": {"matchLabels": {"app": "web"}},
		"template": {
			"metadata": {"labels": {"app": "web"}},
			"spec": {
				"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "securityContext": {},
				"tolerations": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}],
				"containers": [
					{"name": "mesh", "image": "mesh:1", "imagePullPolicy": "Always"},
					{"name": "main", "image": "web:2", "imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log",
						"args": ["-v", "x"],
						"ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}]}
				],
				"volumes": [{"name": "scratch", "emptyDir": {}}]
			}
		}
	},
	"status": {"observedGeneration": 3, "replicas": 5}
}`

// restated is what was applied of it, with the values that it has.
const restated = `{
	"apiVersion": "apps/v1", "kind": "Deployment",
	"metadata": {"name": "web", "labels": {"app": "web"}, "annotations": {"operetta.dev/hash": "0123456789abcdef"}},
	"spec": {
		"selector": {"matchLabels": {"app": "web"}},
		"template": {
			"metadata": {"labels": {"app": "web"}},
			"spec": {
				"securityContext": {},
				"tolerations": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}],
				"containers": [{"name": "main", "image": "web:2", "args": ["-v", "x"], "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}]}],
				"volumes": [{"name": "scratch", "emptyDir": {}}]
			}
		}
	}
}`

// managed is the entry of server-side apply for the same fields, as an API
// server of 1.36 writes it.
const managed = `{"manager": "metacontroller", "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": {
	"f:metadata": {"f:labels": {"f:app": {}, "f:controller-uid": {}}, "f:annotations": {"f:operetta.dev/hash": {}}, "f:ownerReferences": {"k:{\"uid\":\"u\"}": {}}},
	"f:spec": {"f:selector": {}, "f:template": {"f:metadata": {"f:labels": {"f:app": {}}}, "f:spec": {
		"f:securityContext": {}, "f:tolerations": {},
		"f:containers": {"k:{\"name\":\"main\"}": {".": {}, "f:name": {}, "f:image": {}, "f:args": {}, "f:ports": {
			"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}},
			"k:{\"containerPort\":53,\"protocol\":\"UDP\"}": {".": {}, "f:containerPort": {}, "f:protocol": {}}}}},
		"f:volumes": {"k:{\"name\":\"scratch\"}": {".": {}, "f:name": {}, "f:emptyDir": {}}}}}}}}`

// autoscaler is the entry of a controller that has written the replicas.
const autoscaler = `{"manager": "kube-controller-manager", "operation": "Update", "subresource": "scale", "apiVersion": "apps/v1", "fieldsType": "FieldsV1",
	"fieldsV1": {"f:spec": {"f:replicas": {}}}}`

// live returns the Deployment with a text of what was last applied and with
// managed fields, either of which may be missing.
func live(lastApplied string, managedFields ...string) string {
	annotation, managed := "", ""
	if lastApplied != "" {
		quoted, _ := json.Marshal(lastApplied)
		annotation = `, "` + LastAppliedAnnotation + `": ` + string(quoted)
	}
	if len(managedFields) > 0 {
		managed = `, "managedFields": [` + strings.Join(managedFields, ",") + `]`
	}
	return strings.Replace(strings.Replace(liveDeployment, "%s", annotation, 1), "%s", managed, 1)
}

// keepRequest asks about one Deployment.
func keepRequest(t *testing.T, finalizing, orphaning bool, deployment string) []byte {
	parent := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Greeting",
		"metadata": map[string]any{"name": "hi", "namespace": "ns", "uid": "u"}, "spec": map[string]any{}, "status": map[string]any{},
	}
	if orphaning {
		parent["metadata"].(map[string]any)["finalizers"] = []string{"orphan"}
	}
	body, err := json.Marshal(map[string]any{
		"parent": parent, "finalizing": finalizing, "related": map[string]any{},
		"children": map[string]any{"Deployment.apps/v1": map[string]any{"ns/web": json.RawMessage(deployment)}},
	})
	require.NoError(t, err)
	return body
}

// keptAs returns the one child of the answer.
func keptAs(t *testing.T, hook HookName, request []byte) string {
	answer, err := deployments().Call(hook, noon, request)
	require.NoError(t, err)
	require.Len(t, answer.Children, 1)
	require.True(t, answer.Children[0].Kept)
	var response struct{ Children []json.RawMessage }
	require.NoError(t, json.Unmarshal(answer.Body, &response))
	require.Len(t, response.Children, 1)
	return string(response.Children[0])
}

// TestKeepRestatesWhatWasApplied shows that a kept child names the fields that
// were applied, and none that an autoscaler, the API server or a mesh has set.
func TestKeepRestatesWhatWasApplied(t *testing.T) {
	// The text is of an older image: values come from the object.
	applied := strings.Replace(restated, "web:2", "web:1", 1)
	const identity = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}`
	for name, test := range map[string]struct{ deployment, want string }{
		"dynamic-apply":                  {live(applied), restated},
		"server-side apply":              {live("", autoscaler, managed), restated},
		"from one to the other":          {live(applied, managed), restated},
		"another applier beside":         {live(applied, `{"manager":"kubectl","operation":"Apply","fieldsV1":{"f:metadata":{"f:labels":{"f:team":{}}}}}`), restated},
		"neither":                        {live("", autoscaler), identity},
		"a damaged text":                 {live("{"), identity},
		"a text that is no object":       {live("[]"), identity},
		"a damaged text beside an entry": {live("{", managed), restated},
		"a damaged entry":                {live("", `{"operation":"Apply","fieldsV1":{"f:spec":1}}`), identity},
		"an entry of what is not there":  {live("", `{"operation":"Apply","fieldsV1":{"f:spec":{"f:no":{"f:where":{}},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"x\"}":{"f:image":{}},"i:9":{}}}}}}}`), `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[]}}}}`},
		"a text of more than there is":   {live(`{"spec":{"minReadySeconds":5,"replicas":{"a":1},"template":{"spec":{"hostPID":true,"hostNetwork":true}}}}`), `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":5,"template":{"spec":{}}}}`},
		"a list that has grown":          {live(`{"spec":{"template":{"spec":{"tolerations":[{"key":"a"}]}}}}`), `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":{"tolerations":[{"key":"a","operator":"Exists"},{"key":"b","operator":"Exists"}]}}}}`},
		"a text of everything":           {live(`{"status":{"replicas":1},"metadata":{"uid":"x","finalizers":[],"ownerReferences":[{"uid":"x"}],"generateName":"x","resourceVersion":"1","managedFields":[],"namespace":"x"}}`), identity},
	} {
		t.Run(name, func(t *testing.T) {
			require.JSONEq(t, test.want, keptAs(t, SyncHook, keepRequest(t, false, false, test.deployment)))
			require.JSONEq(t, test.want, keptAs(t, FinalizeHook, keepRequest(t, true, false, test.deployment)))
			require.JSONEq(t, test.want, keptAs(t, FinalizeHook, keepRequest(t, true, true, test.deployment)), "while orphaning")
		})
	}
}

// TestKeepRestatesNoMoreThanCanBeApplied: who applies many labels together with one that every
// child has looks like the hook in managedFields, and Metacontroller's annotation could not hold them.
func TestKeepRestatesNoMoreThanCanBeApplied(t *testing.T) {
	var labels, fields []string
	for i := range 14_000 {
		labels = append(labels, fmt.Sprintf(`"label-of-somebody-else-%d":"x"`, i))
		fields = append(fields, fmt.Sprintf(`"f:label-of-somebody-else-%d":{}`, i))
	}
	applied := strings.Replace(restated, "web:2", "web:1", 1)
	entry := `{"manager":"kubectl","operation":"Apply","fieldsV1":{"f:metadata":{"f:labels":{"f:controller-uid":{},` + strings.Join(fields, ",") + `}}}}`
	padded := strings.Replace(live(applied, entry), `"labels": {`, `"labels": {`+strings.Join(labels, ",")+`,`, 1)
	require.Contains(t, padded, "label-of-somebody-else-13999", "the labels are on the object")
	require.JSONEq(t, restated, keptAs(t, SyncHook, keepRequest(t, false, false, padded)))
	require.JSONEq(t, restated, keptAs(t, FinalizeHook, keepRequest(t, true, false, padded)))
}

// TestKeepTakesNoValueFromTheAnnotation is an attack: whoever may edit a child
// may write what was last applied to it.
func TestKeepTakesNoValueFromTheAnnotation(t *testing.T) {
	forged := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"kube-system","labels":{"app":"forged"},
		"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"mine","uid":"n"}]},
		"spec":{"replicas":1,"template":{"spec":{"hostPID":true,"containers":[{"name":"main","image":"forged","securityContext":{"privileged":true}}],
		"volumes":[{"name":"scratch","hostPath":{"path":"/"}}]}}}}`
	for _, text := range []string{forged, strings.Replace(forged, `"kind":"Pod"`, `"kind":"Deployment"`, 1)} {
		for _, hook := range []HookName{SyncHook, FinalizeHook} {
			for _, orphaning := range []bool{false, hook == FinalizeHook} {
				got := keptAs(t, hook, keepRequest(t, hook == FinalizeHook, orphaning, live(text)))
				require.JSONEq(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"app":"web"}},
					"spec":{"replicas":5,"template":{"spec":{"containers":[{"name":"main","image":"web:2"}],"volumes":[{"name":"scratch"}]}}}}`, got)
			}
		}
	}
}

// TestKeptChildRuns shows that what is restated is a whole object where all of
// it was applied.
func TestKeptChildRuns(t *testing.T) {
	var deployment appsv1.Deployment
	require.NoError(t, json.Unmarshal([]byte(keptAs(t, SyncHook, keepRequest(t, false, false, live("", managed)))), &deployment))
	require.Equal(t, "web:2", deployment.Spec.Template.Spec.Containers[0].Image)
	require.Nil(t, deployment.Spec.Replicas, "they are the autoscaler's")
}

// TestKeepWithChangesOneField gives one field another value, whether it was
// applied, is there or neither, and leaves the others as they are.
func TestKeepWithChangesOneField(t *testing.T) {
	controller := deployments()
	for last, want := range map[string]string{
		`{"spec":{"strategy":{"type":""},"replicas":0}}`: `{"strategy":{"type":"Recreate"},"replicas":5}`,
		`{}`: `{"strategy":{"type":"Recreate"}}`,
	} {
		controller.Sync = Sync(func(_ *greeting, seen Observed) (greetingResult, error) {
			web, _ := seen.Children.Find("apps/v1", "Deployment", "web")
			return greetingResult{Status: map[string]any{}, Children: []Object{KeepWith(web, "Recreate", "spec", "strategy", "type")}}, nil
		})
		answer, err := controller.Call(SyncHook, noon, keepRequest(t, false, false, live(last)))
		require.NoError(t, err)
		require.True(t, answer.Children[0].Kept)
		require.JSONEq(t, want, string(rawjson.Lookup(answer.Body[strings.Index(string(answer.Body), `"children":[`)+len(`"children":[`):len(answer.Body)-2], "spec")), last)
	}
}
