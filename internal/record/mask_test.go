package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
)

// maskedPod returns what is recorded of the fields of a child that is a Pod.
func maskedPod(t *testing.T, fields string) string {
	t.Helper()
	request := request(`{}`, "{}", "{}")
	request = strings.Replace(request, `{"ConfigMap.v1":{}}`, `{"Pod.v1":{"web":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","uid":"u-1"},`+fields+`}}}`, 1)
	out, err := masked(Exchange{Controller: toy(), Hook: metacontroller.SyncHook, Request: []byte(request), Answer: []byte("{}")}, map[string]any{})
	require.NoError(t, err)
	pod := out["children"].(map[string]any)["Pod.v1"].(map[string]any)["web"].(map[string]any)
	delete(pod, "apiVersion")
	delete(pod, "kind")
	delete(pod, "metadata")
	encoded, err := json.Marshal(pod)
	require.NoError(t, err)
	return string(encoded)
}

func TestWhatIsHarmlessStays(t *testing.T) {
	for _, fields := range []string{
		`"spec":{"replicas":3,"paused":true,"ratio":0.25,"big":9007199254740993,"nothing":null}`,
		`"spec":{"image":"registry.example.com:5000/shop/web:1.2@sha256:` + strings.Repeat("0a", 32) + `"}`,
		`"spec":{"name":"web","serviceAccountName":"web","secretRef":{"name":"db"},"volumes":[{"name":"v","secret":{"secretName":"tls"}}]}`,
		`"spec":{"restartPolicy":"Never","type":"ClusterIP","strategy":{"type":"RollingUpdate","maxSurge":"25%"}}`,
		`"spec":{"resources":{"requests":{"cpu":"100m","memory":"1Gi","nvidia.com/gpu":"1"}},"emptyDir":{"sizeLimit":"10Gi"}}`,
		`"spec":{"env":[{"name":"A","value":"redacted-1"}],"keyed":{"key":"A_KEY"},"map":{"A_KEY":1}}`,
		`"status":{"phase":"Running","startTime":"2026-01-02T03:04:05Z","conditions":[{"type":"Ready","status":"True","reason":"ContainersNotReady"}]}`,
		`"spec":{"selector":{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app","operator":"In","values":["web"]}]}}`,
		`"spec":{"labels":{"app":"web","controller-uid":"u-1"}}`,
	} {
		require.JSONEq(t, "{"+fields+"}", maskedPod(t, fields))
	}
}

func TestEverythingElseIsReplaced(t *testing.T) {
	for fields, want := range map[string]string{
		`"spec":{"a":"hello","b":"hello","c":"world"}`:                                              `"spec":{"a":"redacted-1","b":"redacted-1","c":"redacted-2"}`,
		`"spec":{"url":"https://u:p@git.example.com/a.git"}`:                                        `"spec":{"url":"https://redacted-1.invalid/redacted-1"}`,
		`"spec":{"a":"http://git.example.com:8443/a?b=c","b":"http://h","c":"mysql://u:p@db:3306"}`: `"spec":{"a":"http://redacted-1.invalid:8443/redacted-1","b":"http://redacted-2.invalid","c":"mysql://redacted-3.invalid:3306"}`,
		`"spec":{"a":"git@example.com:shop/web.git","mountPath":"/var/data"}`:                       `"spec":{"a":"git@redacted-1.invalid:redacted-1","mountPath":"/redacted-2"}`,
		`"spec":{"args":["-p","swordfish"],"command":["sh"]}`:                                       `"spec":{"args":["redacted-1","redacted-2"],"command":["redacted-3"]}`,
		`"spec":{"env":[{"name":"PORT","value":"8080"}],"port":8080}`:                               `"spec":{"env":[{"name":"PORT","value":"redacted-1"}],"port":8080}`,
		`"spec":{"parameters":{"name":"swordfish","type":"Word","pin":4711,"image":"a:b"}}`:         `"spec":{"parameters":{"image":"redacted-1","name":"redacted-2","pin":1,"type":"redacted-3"}}`,
		`"spec":{"name":"user:pass","type":"a b","key":"swordfish","password":"web"}`:               `"spec":{"key":"redacted-1","name":"redacted-2","password":"redacted-3","type":"redacted-4"}`,
		`"spec":{"image":"user:pass@registry/x","z b":1}`:                                           `"spec":{"image":"redacted-1","redacted-2":1}`,
		`"spec":{"labels":{"team":"swordfish"}},"data":{"a":"c3dvcmQ="}`:                            `"data":{"a":"redacted-1"},"spec":{"labels":{"team":"redacted-2"}}`,
		`"status":{"message":"swordfish in Secret/x","phase":"Running","reason":"swordfish99"}`:     `"status":{"message":"redacted-1","phase":"Running","reason":"redacted-2"}`,
		`"spec":{"limits":{"cpu":"swordfish"},"size":"10Gi"}`:                                       `"spec":{"limits":{"cpu":"redacted-1"},"size":"redacted-2"}`,
		`"fieldsV1":{"f:data":{".":{},"v:swordfish":{},"k:{\"a\":1}":{}}}`:                          `"fieldsV1":{"f:data":{".":{},"k:redacted-1":{},"v:redacted-2":{}}}`,
	} {
		require.JSONEq(t, "{"+want+"}", maskedPod(t, fields), fields)
	}
}

// TestTheCRDSaysWhatIsHarmless in the parent: what it does not declare is a user's.
func TestTheCRDSaysWhatIsHarmless(t *testing.T) {
	c := toy()
	c.CRD = metacontroller.NewCRD([]byte(`{spec: {versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
		tempo: {type: string, enum: [Fast, Slow]}, size: {x-kubernetes-int-or-string: true}, text: {type: string}, image: {type: string},
		parts: {type: array, items: {type: object, properties: {taste: {type: string, enum: [Sweet]}, name: {type: string}}}},
		settings: {type: object, additionalProperties: {type: string}}, open: {type: object, x-kubernetes-preserve-unknown-fields: true}}},
		status: {type: object, properties: {note: {type: string}}}}}}}]}}`))
	const spec = `{"tempo":"Fast","size":"10Gi","text":"Fast","image":"a:1","parts":[{"taste":"Sweet","name":"leg"}],"settings":{"name":"x"},"open":{"type":"Word","pin":4711}}`
	text := strings.Replace(request(spec, "{}", "{}"), `"spec":`, `"status":{"note":"Box/a"},"spec":`, 1)
	r, _ := start(t, t.TempDir())
	defer r.Close()
	out, err := masked(Exchange{Controller: c, Hook: metacontroller.CustomizeHook, Request: []byte(text)}, r.schemaOf(c))
	require.NoError(t, err)
	encoded, err := json.Marshal(out["parent"])
	require.NoError(t, err)
	require.Contains(t, string(encoded), `"spec":{"image":"a:1","open":{"pin":1,"type":"redacted-1"},"parts":[{"name":"leg","taste":"Sweet"}],"settings":{"name":"redacted-2"},"size":"10Gi","tempo":"Fast","text":"redacted-3"},"status":{"note":"Box/a"}`)
	out, err = masked(Exchange{Controller: toy(), Hook: metacontroller.CustomizeHook, Request: []byte(text)}, map[string]any{})
	require.NoError(t, err)
	require.Equal(t, "redacted-1", at(out, "parent", "spec", "image"), "nothing is known without a CRD")
}

// TestShapeOfAppliedObjectStays is what tells whose a field is.
func TestShapeOfAppliedObjectStays(t *testing.T) {
	applied := func(content string) string {
		quoted, err := json.Marshal(content)
		require.NoError(t, err)
		return fmt.Sprintf(`"spec":{"annotations":{"metacontroller.k8s.io/last-applied-configuration":%s}}`, quoted)
	}
	require.JSONEq(t, "{"+applied(`{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":3,"x":"redacted-1"}}`)+"}", maskedPod(t, applied(`{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":3,"x":"swordfish"}}`)))
	require.JSONEq(t, "{"+applied("redacted-1")+"}", maskedPod(t, applied(`{"kind":"swordfish`)))
}

func TestWhatIsNoJSONIsNotRecorded(t *testing.T) {
	for _, text := range []string{"", "{", `{"a":}`, `{} {}`, "null", "[]", "\x00"} {
		_, err := masked(Exchange{Controller: toy(), Hook: metacontroller.SyncHook, Request: []byte(text), Answer: []byte("{}")}, map[string]any{})
		require.Error(t, err, text)
	}
}
