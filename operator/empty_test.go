package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/operator"
)

func TestDropEmpty(t *testing.T) {
	for given, want := range map[string]string{
		`{affinity: {nodeAffinity: {}, podAffinity: {}, podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: []}}}`:        `{}`,
		`{affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}, nodeAffinity: {}}}`:                 `{affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}}}`,
		`{dnsConfig: {}, securityContext: {seLinuxOptions: {}, windowsOptions: {}}}`:                                                    `{}`,
		`{dnsConfig: {searches: [a]}, securityContext: {runAsNonRoot: false, seLinuxOptions: {}}}`:                                      `{dnsConfig: {searches: [a]}, securityContext: {runAsNonRoot: false}}`,
		`{containers: [{name: a, securityContext: {capabilities: {drop: []}, seLinuxOptions: {}, windowsOptions: {}}, lifecycle: {}}]}`: `{containers: [{name: a}]}`,
		`{initContainers: [{name: a, securityContext: {}}, {name: b, securityContext: {privileged: false}, lifecycle: {preStop: {}}}]}`: `{initContainers: [{name: a}, {name: b, securityContext: {privileged: false}, lifecycle: {preStop: {}}}]}`,
		`{volumes: [{name: a, downwardAPI: {}}, {name: b, projected: {sources: []}}, {name: c, emptyDir: {}}]}`:                         `{volumes: [{name: a, downwardAPI: {defaultMode: 420}}, {name: b, projected: {sources: [], defaultMode: 420}}, {name: c, emptyDir: {}}]}`,
		`{volumes: [{name: a, downwardAPI: {defaultMode: 256}}, {name: b, projected: {sources: [{secret: {name: s}}]}}]}`:               `{volumes: [{name: a, downwardAPI: {defaultMode: 256}}, {name: b, projected: {sources: [{secret: {name: s}}]}}]}`,
	} {
		var spec, expected corev1.PodSpec
		require.NoError(t, yaml.UnmarshalStrict([]byte(given), &spec))
		require.NoError(t, yaml.UnmarshalStrict([]byte(want), &expected))
		operator.DropEmpty(&spec)
		require.Equal(t, expected, spec, given)
	}
}
