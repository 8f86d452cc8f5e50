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
		`affinity: {podAntiAfinity: {}}`:                                     `unknown field "podAntiAfinity"`,
		`affinity: {nodeAffinity: 3}`:                                        `cannot unmarshal`,
		`livenessProbe: {httpGet: {prot: 80}}`:                               `unknown field "httpGet.prot"`,
		`volumes: [{name: a, configmap: {name: b}}]`:                         `unknown field "configmap"`,
		`volumes: [{name: a, emptyDir: {sizeLimit: "1e999999999"}}]`:         `exponent`,
		`volumes: [{name: a, hostPath: {path: "\x85"}}]`:                     `U+0085`,
		`securityContext: {seLinuxOptions: {level: "\x85"}}`:                 `U+0085`,
		`podSecurityContext: {fsgroup: 1}`:                                   `unknown field "fsgroup"`,
		`volumes: [{name: a, emptyDir: {sizeLimit: 1e3}}]`:                   "",
		`livenessProbe: {grpc: {port: 5}, terminationGracePeriodSeconds: 3}`: "",
	} {
		encoded, err := yaml.YAMLToJSON([]byte(text))
		require.NoError(t, err)
		var pod Pod
		if err := json.Unmarshal(encoded, &pod); want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want, text)
		}
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
		`startupProbe: {failureThreshold: 2000000000, periodSeconds: 2000000}`: 2147483647,
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
