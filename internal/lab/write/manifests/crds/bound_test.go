package crds

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestEveryListMapAndTextIsBound(t *testing.T) {
	schema := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(`
properties:
  args: {type: array, items: {type: string}}
  ports: {type: array, maxItems: 5, items: {type: object, properties: {names: {type: array, items: {type: integer}}}}}
  values: {type: array, items: {type: boolean}}
  env: {type: object, additionalProperties: {type: array, items: {type: integer}}}
  items: {type: object, properties: {properties: {type: object, maxProperties: 3, additionalProperties: {type: boolean}}}}
  labels: {type: object, additionalProperties: {type: string}}
  phase: {type: string, enum: [a]}
  path: {type: string, maxLength: 4096, pattern: "^/[^:]*$"}
  time: {type: string, format: date-time}
`), &schema))
	bound(schema, "spec")
	got, err := yaml.Marshal(schema)
	require.NoError(t, err)
	require.YAMLEq(t, `
properties:
  args: {type: array, maxItems: 1000, items: {type: string, pattern: '^[^\x85]*$'}}
  ports: {type: array, maxItems: 5, items: {type: object, properties: {names: {type: array, maxItems: 100, items: {type: integer}}}}}
  values: {type: array, maxItems: 1000, items: {type: boolean}}
  env: {type: object, maxProperties: 1000, additionalProperties: {type: array, maxItems: 1000, items: {type: integer}}}
  items: {type: object, properties: {properties: {type: object, maxProperties: 3, additionalProperties: {type: boolean}}}}
  labels: {type: object, maxProperties: 100, additionalProperties: {type: string, maxLength: 1024, pattern: '^[^\x85]*$'}}
  phase: {type: string, enum: [a]}
  path: {type: string, maxLength: 4096, pattern: '^/[^\x85:]*$'}
  time: {type: string, format: date-time, maxLength: 1024, pattern: '^[^\x85]*$'}
`, string(got))
}

// TestQuantitiesAreShort: each pattern of a quantity, wherever it comes from.
func TestQuantitiesAreShort(t *testing.T) {
	schema := map[string]any{"properties": map[string]any{
		"plain": map[string]any{"type": "string", "pattern": `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`},
		"other": map[string]any{"pattern": `^[a-z]+$`},
	}}
	boundValues(schema)
	plain := schema["properties"].(map[string]any)["plain"].(map[string]any)
	require.EqualValues(t, 64, plain["maxLength"])
	pattern := regexp.MustCompile(plain["pattern"].(string))
	for value, admitted := range map[string]bool{"1e3": true, "1.5E-12": true, "100m": true, "1Gi": true, "1e100": false, "1e9.5": false, "1e+1000000": false} {
		require.Equal(t, admitted, pattern.MatchString(value), value)
	}
	require.Equal(t, map[string]any{"pattern": `^[a-z]+$`}, schema["properties"].(map[string]any)["other"])
}

func TestEveryNumberIsBounded(t *testing.T) {
	schema := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(`
properties:
  size: {type: integer, format: int32, minimum: 0}
  seconds: {type: integer, format: int64}
  port: {x-kubernetes-int-or-string: true}
  cpu: {x-kubernetes-int-or-string: true, pattern: a}
  count: {type: integer}
`), &schema))
	boundValues(schema)
	got, err := yaml.Marshal(schema)
	require.NoError(t, err)
	require.YAMLEq(t, `
properties:
  size: {type: integer, format: int32, minimum: 0, maximum: 2147483647}
  seconds: {type: integer, format: int64, minimum: -9223372036854775000, maximum: 9223372036854775000}
  port: {x-kubernetes-int-or-string: true, minimum: -2147483648, maximum: 2147483647}
  cpu: {x-kubernetes-int-or-string: true, pattern: a}
  count: {type: integer}
`, string(got))
}
