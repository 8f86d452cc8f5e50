package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
)

// masked returns what is recorded of a parent's spec and metadata.
func masked(t *testing.T, members string) string {
	t.Helper()
	request := `{"children":{"ConfigMap.v1":{}},"finalizing":false,"parent":{"apiVersion":"example.com/v1","kind":"Box","metadata":{"name":"web","namespace":"default"},` + members + `},"related":{}}`
	m, err := newMask(Exchange{Controller: toy(), Hook: metacontroller.SyncHook, Request: []byte(request), Answer: []byte("{}")})
	require.NoError(t, err)
	require.NoError(t, m.run([]byte(request)))
	require.True(t, json.Valid(m.out.Bytes()))
	_, after, found := strings.Cut(m.out.String(), `"namespace":"default"},`)
	require.True(t, found, m.out.String())
	return strings.TrimSuffix(after, `},"related":{}}`)
}

func TestWhatIsHarmlessStays(t *testing.T) {
	for _, members := range []string{
		`"spec":{"replicas":3,"paused":true,"ratio":0.25,"big":9007199254740993,"nothing":null}`,
		`"spec":{"image":"registry.example.com:5000/shop/web:1.2@sha256:` + strings.Repeat("0a", 32) + `"}`,
		`"spec":{"name":"web","serviceAccountName":"web","secretRef":{"name":"db"},"volumes":[{"name":"v","secret":{"secretName":"tls"}}]}`,
		`"spec":{"restartPolicy":"Never","type":"ClusterIP","strategy":{"type":"RollingUpdate","maxSurge":"25%"},"clusterIP":"10.0.0.1"}`,
		`"spec":{"resources":{"requests":{"cpu":"100m","memory":"1Gi","nvidia.com/gpu":"1"}},"size":"10Gi"}`,
		`"spec":{"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"db","key":"password"}}}]}`,
		`"spec":{"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"}]}`,
		`"spec":{"wait":"1h30m","waits":{"a":"-1.5s","b":"100us"}}`,
		`"spec":{"capabilities":{"drop":["ALL"],"add":["NET_ADMIN"]},"accessModes":["ReadWriteOnce"]}`,
		`"status":{"phase":"Running","ready":"1/2","duration":"1m30s","startTime":"2026-01-02T03:04:05Z","conditions":[{"type":"Ready","status":"True","reason":"MinimumReplicasAvailable"}]}`,
		`"spec":{"selector":{"matchLabels":{"app.kubernetes.io/name":"web"}},"template":{"metadata":{"labels":{"app":"web"}}}}`,
	} {
		require.Equal(t, members, masked(t, members))
	}
}

func TestEverythingElseIsReplaced(t *testing.T) {
	for members, want := range map[string]string{
		`"spec":{"greeting":"hello","again":"hello","other":"world"}`:                          `"spec":{"greeting":"redacted-1","again":"redacted-1","other":"redacted-2"}`,
		`"spec":{"url":"https://u:p@git.example.com/a.git"}`:                                   `"spec":{"url":"https://redacted-1.invalid/redacted-1"}`,
		`"spec":{"url":"http://git.example.com:8443/a?b=c","bare":"http://h"}`:                 `"spec":{"url":"http://redacted-1.invalid:8443/redacted-1","bare":"http://redacted-2.invalid"}`,
		`"spec":{"url":"git@example.com:shop/web.git","mountPath":"/var/data"}`:                `"spec":{"url":"git@redacted-1.invalid:redacted-1","mountPath":"/redacted-2"}`,
		`"spec":{"args":["-p","swordfish"],"command":["sh"]}`:                                  `"spec":{"args":["redacted-1","redacted-2"],"command":["redacted-3"]}`,
		`"spec":{"env":[{"name":"PORT","value":"8080"}],"port":8080}`:                          `"spec":{"env":[{"name":"PORT","value":"redacted-1"}],"port":8080}`,
		`"spec":{"env":{"name":"swordfish","type":"Word","N":"7"}}`:                            `"spec":{"env":{"name":"redacted-1","type":"redacted-2","N":"redacted-3"}}`,
		`"spec":{"settings":{"pin":4711,"env":[{"name":"swordfish"}]}}`:                        `"spec":{"settings":{"pin":1,"env":[{"name":"redacted-1"}]}}`,
		`"spec":{"password":4711,"tokenExpirationSeconds":3600}`:                               `"spec":{"password":1,"tokenExpirationSeconds":3600}`,
		`"spec":{"password":"1h","pause":"12345h","pauses":"` + strings.Repeat("1h", 7) + `"}`: `"spec":{"password":"redacted-1","pause":"redacted-2","pauses":"redacted-3"}`,
		`"spec":{"name":"user:pass","userName":"bob","databaseName":"shop"}`:                   `"spec":{"name":"redacted-1","userName":"redacted-2","databaseName":"redacted-3"}`,
		`"spec":{"reason":"swordfish99","type":"a b","key":"swordfish"}`:                       `"spec":{"reason":"redacted-1","type":"redacted-2","key":"redacted-3"}`,
		`"status":{"reason":"Swordfish","nodes":["swordfish"]}`:                                `"status":{"reason":"redacted-1","nodes":["redacted-2"]}`,
		`"spec":{"name":"ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"}`:                           `"spec":{"name":"redacted-1"}`,
		`"spec":{"image":"user:pass@registry/x","a b":1}`:                                      `"spec":{"image":"redacted-1","redacted-2":1}`,
		`"spec":{"labels":{"team":"swordfish"},"data":{"a":"c3dvcmQ="}}`:                       `"spec":{"labels":{"team":"redacted-1"},"data":{"a":"cmVkYWN0ZWQtMg=="}}`,
		`"status":{"message":"swordfish in Secret/x","phase":"Running"}`:                       `"status":{"message":"redacted-1 redacted-2 redacted-3","phase":"Running"}`,
		`"spec":{"limits":{"cpu":"swordfish"},"when":"2026-01-02T03:04:05Z"}`:                  `"spec":{"limits":{"cpu":"redacted-1"},"when":"2026-01-02T03:04:05Z"}`,
	} {
		require.Equal(t, want, masked(t, members))
	}
}

// TestWordsOfAnEnumerationStay in the fields that have it: the hook takes no other.
func TestWordsOfAnEnumerationStay(t *testing.T) {
	c := toy()
	c.CRD = []byte(`{spec: {versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
		tempo: {type: string, enum: [Fast, Slow]}, parts: {type: array, items: {type: object, properties: {taste: {type: string, enum: [Sweet]}, password: {type: string, enum: [Open]}}}},
		text: {type: string}}}}}}}]}}`)
	const members = `"spec":{"tempo":"Fast","parts":[{"taste":"Sweet","password":"Open"}],"text":"Fast","other":"Sweet"},"status":{"tempo":"Slow"}`
	request := `{"parent":{"apiVersion":"example.com/v1","kind":"Box","metadata":{"name":"a","namespace":"default"},` + members + `},"children":{},"related":{}}`
	m, err := newMask(Exchange{Controller: c, Hook: metacontroller.CustomizeHook, Request: []byte(request)})
	require.NoError(t, err)
	require.NoError(t, m.run([]byte(request)))
	require.Contains(t, m.out.String(), `"spec":{"tempo":"Fast","parts":[{"taste":"Sweet","password":"redacted-1"}],"text":"redacted-2","other":"redacted-3"},"status":{"tempo":"redacted-4"}`)
}

// TestShapeOfAppliedObjectStays is what tells whose a field is.
func TestShapeOfAppliedObjectStays(t *testing.T) {
	applied := func(content string) string {
		quoted, err := json.Marshal(content)
		require.NoError(t, err)
		return fmt.Sprintf(`"spec":{"annotations":{"metacontroller.k8s.io/last-applied-configuration":%s}}`, quoted)
	}
	require.Equal(t, applied(`{"kind":"Deployment","spec":{"replicas":3,"x":"redacted-1"}}`), masked(t, applied(`{"kind":"Deployment","spec":{"replicas":3,"x":"swordfish"}}`)))
	require.Equal(t, `"spec":{"annotations":{"metacontroller.k8s.io/last-applied-configuration":"redacted-1"}}`, masked(t, applied(`{"kind":"swordfish`)))
}

func TestTokensAreFoundInNames(t *testing.T) {
	for _, token := range []string{
		"ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R", "AKIAIOSFODNN7EXAMPLE", "xoxb-123456789012-abcdefghijkl", "sk_live_0123456789abcdef",
		"glpat-0123456789abcdefghij", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2ln", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY", "AIza0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6",
	} {
		require.True(t, looksSecret(token), token)
	}
	for _, name := range []string{
		"web", "CrashLoopBackOff", "MYSQL_ROOT_PASSWORD", "ContainersNotInitialized", "web-5d8f7c9b6-x2x4z", "shop-0123456789abcdef",
		"registry.example.com/shop/web:1.2", "kube-root-ca.crt", "PodReadyToStartContainers", "ip-10-0-0-1.ec2.internal", "ReadWriteOncePod",
		"persistentVolumeClaimRetentionPolicy", "operetta.dev/hash", "e2e-medium-0123456789012345", "NodeAffinityPolicyInPodTopologySpread",
	} {
		require.False(t, looksSecret(name), name)
	}
}

func TestWhatIsNoJSONIsNotRecorded(t *testing.T) {
	for _, text := range []string{"", "{", `{"a":}`, `{} {}`, "null", "[]", "\x00"} {
		_, err := (&Recorder{repeated: map[string]bool{}, files: &folder{}}).record(Exchange{Controller: toy(), Hook: metacontroller.SyncHook, Request: []byte(text), Answer: []byte("{}")})
		require.Error(t, err, text)
	}
}
