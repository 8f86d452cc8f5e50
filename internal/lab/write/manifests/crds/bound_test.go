package crds

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
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

// TestQuantitiesOfMapsAdmitFractions: a number such as 0.5, as Kubernetes does in limits. Nothing else that
// is no text is admitted.
func TestQuantitiesOfMapsAdmitFractions(t *testing.T) {
	quantity := func() map[string]any {
		return map[string]any{"x-kubernetes-int-or-string": true, "anyOf": []any{map[string]any{"type": "integer"}, map[string]any{"type": "string"}},
			"pattern": `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`}
	}
	root := map[string]any{"type": "object", "properties": map[string]any{
		"limits": map[string]any{"type": "object", "additionalProperties": quantity()}, "size": quantity(),
	}}
	boundValues(root)
	text, err := json.Marshal(root)
	require.NoError(t, err)
	var props apiextensions.JSONSchemaProps
	var v1 apiextensionsv1.JSONSchemaProps
	require.NoError(t, json.Unmarshal(text, &v1))
	require.NoError(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &props, nil))
	structural, err := schema.NewStructural(&props)
	require.NoError(t, err)
	require.Empty(t, schema.ValidateStructural(nil, structural))
	validator, _, err := validation.NewSchemaValidator(&props)
	require.NoError(t, err)
	for value, admitted := range map[string]bool{
		`0.5`: true, `1`: true, `"0.5"`: true, `"100m"`: true, `"1e100"`: false, `true`: false, `false`: false, `"half"`: false, `[]`: false, `[1]`: false, `{}`: false, `{"a": 1}`: false,
	} {
		var object any
		require.NoError(t, json.Unmarshal([]byte(`{"limits": {"cpu": `+value+`}}`), &object))
		require.Equal(t, admitted, len(validation.ValidateCustomResource(nil, object, validator)) == 0, value)
	}
	require.Equal(t, true, root["properties"].(map[string]any)["size"].(map[string]any)["x-kubernetes-int-or-string"])
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
