package crds

import (
	"fmt"
	"reflect"
	"regexp"
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
  ports: {type: array, maxItems: 5, items: {type: object, properties: {names: {type: array, maxItems: 64, items: {type: string}}}}}
  nodeSelector: {type: object, maxProperties: 64, additionalProperties: {type: string, maxLength: 63, pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$'}}
  env: {type: object, maxProperties: 1000, additionalProperties: {type: array, maxItems: 1000, items: {type: string}}}
  items: {type: object, properties: {properties: {type: object, maxProperties: 3, additionalProperties: {type: string}}}}
`, string(got))
}

// TestQuantitiesAreShort: each pattern of a quantity, wherever it comes from.
func TestQuantitiesAreShort(t *testing.T) {
	schema := map[string]any{"properties": map[string]any{
		"plain": map[string]any{"type": "string", "pattern": `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`},
		"other": map[string]any{"pattern": `^[a-z]+$`},
	}}
	boundTexts(schema, "spec") // its limit is too long for a quantity
	boundQuantities(schema)
	plain := schema["properties"].(map[string]any)["plain"].(map[string]any)
	require.EqualValues(t, 64, plain["maxLength"])
	pattern := regexp.MustCompile(plain["pattern"].(string))
	for value, admitted := range map[string]bool{"1e3": true, "1.5E-12": true, "100m": true, "1Gi": true, "1e100": false, "1e9.5": false, "1e+1000000": false} {
		require.Equal(t, admitted, pattern.MatchString(value), value)
	}
	require.Equal(t, map[string]any{"pattern": `^[a-z]+$`}, schema["properties"].(map[string]any)["other"])
}

func TestEveryTextAndKeyIsBounded(t *testing.T) {
	schema := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(`
properties:
  args: {type: array, items: {type: string}}
  name: {type: string}
  phase: {type: string, enum: [a]}
  path: {type: string, maxLength: 4096}
  labels: {type: object, additionalProperties: {type: string}}
`), &schema))
	boundTexts(schema, "spec")
	boundKeys(schema, "spec")
	got, err := yaml.Marshal(schema)
	require.NoError(t, err)
	require.YAMLEq(t, `
properties:
  args: {type: array, items: {type: string}}
  name: {type: string, maxLength: 1024}
  phase: {type: string, enum: [a]}
  path: {type: string, maxLength: 4096}
  labels:
    type: object
    additionalProperties: {type: string, maxLength: 1024}
    x-kubernetes-validations: [{rule: "self.all(key, size(key) <= 317)", message: "a key has more than 317 characters: shorten it"}]
`, string(got))
}

// TestAMapOfAnyContentHasNoRule: CEL has no type for its values, and the API server refuses the CRD.
func TestAMapOfAnyContentHasNoRule(t *testing.T) {
	anything := func() map[string]any { return map[string]any{"x-kubernetes-preserve-unknown-fields": true} }
	for name, test := range map[string]struct {
		values map[string]any
		has    bool
	}{
		"anything":         {anything(), false},
		"lists of it":      {map[string]any{"type": "array", "items": anything()}, false},
		"texts":            {map[string]any{"type": "string"}, true},
		"amounts":          {map[string]any{"x-kubernetes-int-or-string": true}, true},
		"objects of it":    {map[string]any{"type": "object", "properties": map[string]any{"a": anything()}}, true},
		"objects with any": {map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}, true},
	} {
		schema := map[string]any{"type": "object", "additionalProperties": test.values}
		boundKeys(schema, "free")
		require.Equal(t, test.has, schema["x-kubernetes-validations"] != nil, name)
		require.NotContains(t, fmt.Sprint(admitted(t.Context(), definitionOfField(t, schema))), "type information", name)
	}
}
