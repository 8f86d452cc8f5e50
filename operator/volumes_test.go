package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/operator"
)

func TestCompleteVolumes(t *testing.T) {
	for given, want := range map[string]string{
		`[{name: a}]`: `[{name: a, emptyDir: {}}]`,
		`[{name: a, secret: {secretName: s}}, {name: b, emptyDir: {medium: Memory}}]`:                                        `[{name: a, secret: {secretName: s}}, {name: b, emptyDir: {medium: Memory}}]`,
		`[{name: a, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}]`:                               `[{name: a, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}]`, // found by its path
		`[{name: a, projected: {sources: [{serviceAccountToken: {path: t}}, {secret: {name: s}}]}}]`:                         `[{name: a, projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: 3600}}, {secret: {name: s}}]}}]`,
		`[{name: a, projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: 600}}]}}]`:                      `[{name: a, projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: 600}}]}}]`,
		`[{name: a, projected: {sources: [{podCertificate: {keyType: ED25519}}]}}]`:                                          `[{name: a, projected: {sources: [{podCertificate: {keyType: ED25519, maxExpirationSeconds: 86400}}]}}]`,
		`[{name: a, projected: {sources: [{downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}]}}]`:     `[{name: a, projected: {sources: [{downwardAPI: {items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: metadata.name}}]}}]}}]`,
		`[{name: a, projected: {sources: [{downwardAPI: {items: [{path: p, resourceFieldRef: {resource: limits.cpu}}]}}]}}]`: `[{name: a, projected: {sources: [{downwardAPI: {items: [{path: p, resourceFieldRef: {resource: limits.cpu, divisor: "0"}}]}}]}}]`,
	} {
		var volumes []corev1.Volume
		require.NoError(t, yaml.UnmarshalStrict([]byte(given), &volumes))
		operator.CompleteVolumes(volumes)
		got, err := yaml.Marshal(volumes)
		require.NoError(t, err)
		require.YAMLEq(t, want, string(got), given)
	}
}
