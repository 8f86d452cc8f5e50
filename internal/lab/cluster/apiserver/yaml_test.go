package apiserver

import (
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// parse reads an object, or any mapping, from YAML.
func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	content, err := kube.ParseJSON(encoded)
	require.NoError(t, err)
	return content
}
