package crds

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

type parent struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              spec `json:"spec"`
}

type spec struct {
	// A field with the name of a keyword.
	Description string                 `json:"description"`
	Sidecars    []corev1.Container     `json:"sidecars"`
	Parts       map[string]*part       `json:"parts"`
	Template    corev1.PodTemplateSpec `json:"template"`
	Port        *intstr.IntOrString    `json:"port"`
	Limits      corev1.ResourceList    `json:"limits"`
	shared      `json:",inline"`
}

type part struct {
	Mount *corev1.VolumeMount `json:"mount"`
}

type shared struct {
	Probe *corev1.Probe `json:"probe"`
}

const fullSchema = `
description: ours
properties:
  apiVersion: {type: string, description: theirs}
  kind: {type: string, description: theirs}
  metadata: {type: object}
  spec:
    description: ours
    properties:
      description: {type: string, description: ours}
      sidecars:
        description: ours
        items:
          description: theirs
          properties:
            name: {type: string, description: theirs}
            description: {type: string, description: theirs}
            env: {description: theirs, items: {description: theirs, properties: {name: {type: string, description: theirs}}}}
      parts:
        description: ours
        additionalProperties:
          description: ours
          properties:
            mount: {description: ours, properties: {name: {type: string, description: theirs}}}
      template:
        description: ours
        properties:
          metadata: {description: theirs, properties: {labels: {description: theirs, additionalProperties: {type: string}}}}
          spec: {description: theirs, allOf: [{description: theirs}], not: {description: theirs}}
      port: {description: ours, anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}
      limits: {description: ours, additionalProperties: {description: theirs, anyOf: [{type: integer}, {type: string}]}}
      probe: {description: ours, properties: {exec: {description: theirs}}}
`

func TestTheTextOfOtherModulesIsCut(t *testing.T) {
	schema := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(fullSchema), &schema))
	c := cutter{module: ours}
	c.walk(schema, reflect.TypeFor[parent](), "")
	require.Empty(t, c.silent)

	got, err := yaml.Marshal(schema)
	require.NoError(t, err)
	require.YAMLEq(t, `
description: ours
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  spec:
    description: ours
    properties:
      description: {type: string, description: ours}
      sidecars:
        description: ours
        items:
          properties:
            name: {type: string}
            description: {type: string}
            env: {items: {properties: {name: {type: string}}}}
      parts:
        description: ours
        additionalProperties:
          description: ours
          properties: {mount: {description: ours, properties: {name: {type: string}}}}
      template:
        description: ours
        properties:
          metadata: {properties: {labels: {additionalProperties: {type: string}}}}
          spec: {allOf: [{}], not: {}}
      port: {description: ours, anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}
      limits: {description: ours, additionalProperties: {anyOf: [{type: integer}, {type: string}]}}
      probe: {description: ours, properties: {exec: {}}}
`, string(got))
}

func TestAFieldOfOursWithoutADescriptionIsNamed(t *testing.T) {
	schema := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(`
properties:
  spec:
    description: ours
    properties:
      sidecars: {items: {properties: {name: {type: string}}}}
      parts:
        description: ours
        additionalProperties: {properties: {mount: {type: object}}}
`), &schema))
	c := cutter{module: ours}
	c.walk(schema, reflect.TypeFor[parent](), "")
	require.Equal(t, []string{"spec.sidecars", "spec.parts{}.mount"}, c.silent)
}

// A recursive type: controller-gen writes no CRD of it but with a field of any content.
type branches map[string]branches

type leaves []leaves

func TestAFieldOfAnyContentIsLeftAsItIs(t *testing.T) {
	type anything struct {
		Tree    branches          `json:"tree"`
		List    leaves            `json:"list"`
		Times   []metav1.Duration `json:"times"`
		Timeout metav1.Duration   `json:"timeout"`
		Begin   metav1.Time       `json:"begin"`
		Count   int8              `json:"count"`
	}
	type object struct {
		Spec anything `json:"spec"`
	}
	fields := map[string]any{}
	for _, name := range []string{"tree", "list", "times", "timeout", "begin", "count"} {
		fields[name] = map[string]any{"x-kubernetes-preserve-unknown-fields": true}
	}
	schema := map[string]any{"properties": map[string]any{"spec": map[string]any{"properties": fields}}}
	c := cutter{module: ours}
	c.walk(schema, reflect.TypeFor[object](), "")
	for name, field := range fields {
		require.Equal(t, map[string]any{"x-kubernetes-preserve-unknown-fields": true}, field, name)
	}
}

// TestWhatIsEmbeddedByAPointerIsWalked, and what is no struct is left alone.
func TestWhatIsEmbeddedByAPointerIsWalked(t *testing.T) {
	type Names map[string]string
	type holder struct {
		Names  `json:",inline"`
		Count  int8 `json:"count"`
		*inner `json:",inline"`
	}
	for m, silent := range map[module][]string{ours: {"spec.part.count", "spec.part.few"}, "example.com/another": nil} {
		schema := map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(`{properties: {count: {type: integer}, few: {type: integer}}}`), &schema))
		c := cutter{module: m}
		c.walk(schema, reflect.TypeFor[holder](), "spec.part")
		require.Equal(t, silent, c.silent)
	}
}

type inner struct {
	Few int8 `json:"few"`
}

// TestEmbeddedMetadataIsWhole, that of a volume claim in a template, too, and a field
// of ours with that name is left alone.
func TestEmbeddedMetadataIsWhole(t *testing.T) {
	schema := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(`
properties:
  metadata: {type: string}
  template:
    properties:
      metadata: {properties: {finalizers: {type: array}, annotations: {type: object}}}
      claims: {items: {properties: {metadata: {properties: {finalizers: {type: array}, annotations: {type: object}}}}}}
`), &schema))
	completeMetadata(schema)
	got, err := yaml.Marshal(schema)
	require.NoError(t, err)
	require.YAMLEq(t, `
properties:
  metadata: {type: string}
  template:
    properties:
      metadata: {properties: {finalizers: {type: array, x-kubernetes-list-type: set}, annotations: {type: object}, creationTimestamp: {type: string, format: date-time}}}
      claims: {items: {properties: {metadata: {properties: {finalizers: {type: array, x-kubernetes-list-type: set}, annotations: {type: object}, creationTimestamp: {type: string, format: date-time}}}}}}
`, string(got))
}

// TestPortsHaveTheProtocolsThatKubernetesKnows: and a field of that name of somebody else's has any.
func TestPortsHaveTheProtocolsThatKubernetesKnows(t *testing.T) {
	ports := func(keys ...any) map[string]any {
		protocol := map[string]any{"type": "string"}
		return map[string]any{
			"x-kubernetes-list-map-keys": keys,
			"items":                      map[string]any{"properties": map[string]any{"protocol": protocol}},
		}
	}
	schema := map[string]any{"properties": map[string]any{"ports": ports("containerPort", "protocol"), "routes": ports("protocol")}}
	completePorts(schema)
	protocol := func(list string) map[string]any {
		return member(member(member(member(member(schema, "properties"), list), "items"), "properties"), "protocol")
	}
	require.Equal(t, []any{"TCP", "UDP", "SCTP", ""}, protocol("ports")["enum"])
	require.NotContains(t, protocol("routes"), "enum")
}
