package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// toJSON reads YAML.
func toJSON(t testing.TB, text string) []byte {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	return content
}

// parse reads an object, or any mapping, from YAML.
func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	content, err := apiserver.ParseJSON(toJSON(t, text))
	require.NoError(t, err)
	return content
}
