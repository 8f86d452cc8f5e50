package dataservice

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// TestWhatTheCRDLeavesOpenIsDecodedStrictly: the API server prunes no unknown field there.
func TestWhatTheCRDLeavesOpenIsDecodedStrictly(t *testing.T) {
	for text, want := range map[string]string{
		`affinity: {podAntiAfinity: {}}`:                                     `affinity: unknown field "podAntiAfinity"`,
		`affinity: {nodeAffinity: 3}`:                                        `affinity: nodeAffinity is no v1.NodeAffinity`,
		`livenessProbe: {httpGet: {prot: 80}}`:                               `livenessProbe: unknown field "prot"`,
		`readinessProbe: {periodSeconds: 3000000000}`:                        `readinessProbe: periodSeconds is no int32`,
		`startupProbe: []`:                                                   `startupProbe: it is no v1.Probe`,
		`volumes: [{name: a, configMapp: {name: b}}]`:                        `volumes: unknown field "configMapp"`,
		`volumes: [{name: a, emptyDir: {sizeLimit: "1e999999999"}}]`:         `volumes: a quantity has an exponent of more than two digits: write it with a suffix, as in 1Gi`,
		`volumes: [{name: a, emptyDir: {sizeLimit: much}}]`:                  `volumes: it has a value that cannot be read`,
		`volumes: [{name: a, hostPath: {path: "\x85"}}]`:                     `volumes: a text contains the character U+0085, which Metacontroller cannot send: remove it`,
		`podSecurityContext: {fsGrup: 1}`:                                    `podSecurityContext: unknown field "fsGrup"`,
		`securityContext: {runAsUser: root}`:                                 `securityContext: runAsUser is no int64`,
		`lifecycle: {preStop: {exce: {}}}`:                                   `lifecycle: unknown field "exce"`,
		`dnsConfig: {nameserver: 10.0.0.1}`:                                  `dnsConfig: unknown field "nameserver"`,
		`topologySpreadConstraints: [{topologyKey: a, maxSkw: 1}]`:           `topologySpreadConstraints: unknown field "maxSkw"`,
		`volumes: [{name: a, emptyDir: {sizeLimit: 1e3}}]`:                   "",
		`livenessProbe: {grpc: {port: 5}, terminationGracePeriodSeconds: 3}`: "",
	} {
		encoded, err := yaml.YAMLToJSON([]byte(text))
		require.NoError(t, err)
		var pod Pod
		require.NoError(t, json.Unmarshal(encoded, &pod))
		require.Equal(t, want, pod.wrong(), text)
	}
}

// TestDeadlineIsNeverShorterThanTheProbesGrant wants no rollout to be given up while a container may start.
func TestDeadlineIsNeverShorterThanTheProbesGrant(t *testing.T) {
	for text, want := range map[string]int32{
		`{}`:                                   0,
		`startupProbe: {failureThreshold: 30}`: 0,
		`startupProbe: {failureThreshold: 60}`: 1200,
		`startupProbe: {failureThreshold: 60, periodSeconds: 20}`:              1800,
		`readinessProbe: {initialDelaySeconds: 900}`:                           1530,
		`livenessProbe: {failureThreshold: 100}`:                               1600,
		`startupProbe: {failureThreshold: 2000000000, periodSeconds: 2000000}`: 2147483646,
	} {
		u := unit{component: component{key: "web"}}
		require.NoError(t, yaml.Unmarshal([]byte(text), &u.said.Pod))
		if got := u.deadline(); want == 0 {
			require.Nil(t, got, text)
		} else {
			require.Equal(t, want, *got, text)
		}
	}
}

// TestVariablesKeepTheirOrder: a reference to a variable works only where that comes first.
func TestVariablesKeepTheirOrder(t *testing.T) {
	var ds DataService
	require.NoError(t, yaml.UnmarshalStrict([]byte(`
mysql: {credentialsSecretRef: {name: db}}
eureka: {image: a}
auth:
  image: a
  env: {Z: z, A: "$(MYSQL_PASSWORD)", B: old}
  envVars: [{name: B, value: b}, {name: AA, value: "$(B)$(Z)"}, {name: MYSQL_USERNAME, value: me}]
uuc: {image: a}
`), &ds.Spec))
	p, err := DefaultPolicy().resolve(&ds)
	require.NoError(t, err)
	var names []string
	for _, variable := range p.environment(p.unit("auth")) {
		names = append(names, variable.Name)
	}
	require.Equal(t, []string{"SPRING_CONFIG_ADDITIONAL_LOCATION", "MYSQL_PASSWORD", "A", "Z", "B", "AA", "MYSQL_USERNAME"}, names)
}
