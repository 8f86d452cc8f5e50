package player

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// toJSON reads YAML.
func toJSON(t testing.TB, text string) []byte {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	return content
}
