package crds

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func TestASelectorIsBound(t *testing.T) {
	schema := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(`
properties:
  matchExpressions: {items: {properties: {key: {type: string}, operator: {type: string}, values: {items: {type: string}}}}}
  matchLabels: {additionalProperties: {type: string}}
`), &schema))
	bound(schema, reflect.TypeFor[metav1.LabelSelector]())
	got, err := yaml.Marshal(schema)
	require.NoError(t, err)
	require.YAMLEq(t, `
properties:
  matchExpressions:
    maxItems: 64
    items:
      properties:
        key: {type: string, maxLength: 317}
        operator: {type: string, maxLength: 12}
        values: {maxItems: 64, items: {type: string, maxLength: 63}}
  matchLabels: {additionalProperties: {type: string}}
`, string(got))

	empty := map[string]any{}
	bound(empty, reflect.TypeFor[metav1.LabelSelector]())
	require.Empty(t, empty)
}

func TestEveryListAndMapIsBound(t *testing.T) {
	schema := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(`
properties:
  args: {type: array, items: {type: string}}
  ports: {type: array, maxItems: 5, items: {type: object, properties: {names: {type: array, items: {type: string}}}}}
  nodeSelector: {type: object, additionalProperties: {type: string}}
  env: {type: object, additionalProperties: {type: array, items: {type: string}}}
  items: {type: object, properties: {properties: {type: object, maxProperties: 3, additionalProperties: {type: string}}}}
`), &schema))
	boundEntries(schema, "spec")
	got, err := yaml.Marshal(schema)
	require.NoError(t, err)
	require.YAMLEq(t, `
properties:
  args: {type: array, maxItems: 1000, items: {type: string}}
  ports: {type: array, maxItems: 5, items: {type: object, properties: {names: {type: array, maxItems: 1000, items: {type: string}}}}}
  nodeSelector: {type: object, maxProperties: 64, additionalProperties: {type: string, maxLength: 63, pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$'}}
  env: {type: object, maxProperties: 1000, additionalProperties: {type: array, maxItems: 1000, items: {type: string}}}
  items: {type: object, properties: {properties: {type: object, maxProperties: 3, additionalProperties: {type: string}}}}
`, string(got))
}
