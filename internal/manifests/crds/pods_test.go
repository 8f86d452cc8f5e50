package crds

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestWhatIsAskedOfPodsIsWritten follows lists, maps, pointers and embedded
// structs to the types of which something is asked.
func TestWhatIsAskedOfPodsIsWritten(t *testing.T) {
	schema := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(`
properties:
  spec:
    properties:
      activeDeadlineSeconds: {type: integer, format: int64}
      containers:
        items:
          properties:
            ports: {items: {properties: {containerPort: {type: integer}}}}
            lifecycle: {properties: {preStop: {properties: {exec: {properties: {command: {type: array}}}}}}}
            livenessProbe: {properties: {periodSeconds: {type: integer}, tcpSocket: {properties: {port: {x-kubernetes-int-or-string: true}}}}}
      ephemeralContainers: {items: {properties: {ports: {items: {properties: {containerPort: {type: integer}}}}}}}
`), &schema))
	constrain(schema, reflect.TypeFor[corev1.PodTemplateSpec]())

	container := schema["properties"].(map[string]any)["spec"].(map[string]any)["properties"].(map[string]any)["containers"].(map[string]any)["items"]
	require.Len(t, container.(map[string]any)["x-kubernetes-validations"], 11)
	withoutRules(schema)
	got, err := yaml.Marshal(schema)
	require.NoError(t, err)
	require.YAMLEq(t, `
properties:
  spec:
    properties:
      activeDeadlineSeconds: {type: integer, format: int64, minimum: 1, maximum: 2147483647}
      containers:
        maxItems: 64
        items:
          properties:
            ports: {items: {properties: {containerPort: {type: integer, minimum: 1, maximum: 65535}}}, maxItems: 100}
            lifecycle: {properties: {preStop: {properties: {exec: {properties: {command: {type: array, minItems: 1}}}}}}}
            livenessProbe:
              properties:
                periodSeconds: {type: integer, minimum: 0}
                tcpSocket: {properties: {port: {x-kubernetes-int-or-string: true, minimum: 1, maximum: 65535, maxLength: 15, pattern: '^([a-z0-9]+-)*[0-9]*[a-z][a-z0-9]*(-[a-z0-9]+)*$'}}}
      ephemeralContainers: {items: {properties: {ports: {items: {properties: {containerPort: {type: integer}}}}}}}
`, string(got))
}

// TestEveryTypeAndFieldThatIsAskedAboutExists fails on a name that Kubernetes has
// not got: nothing would be asked then.
func TestEveryTypeAndFieldThatIsAskedAboutExists(t *testing.T) {
	for asked, wanted := range podValidation {
		for name := range wanted.fields {
			require.True(t, hasField(asked, name), "%s has no field %s", asked, name)
		}
	}
}

// hasField reports whether a type has a field at a path, as in values[] and
// fieldRef.fieldPath.
func hasField(t reflect.Type, path string) bool {
	for t.Kind() != reflect.Struct {
		t = t.Elem()
	}
	first, rest, isDeeper := strings.Cut(path, ".")
	name := strings.TrimRight(first, "[]{}")
	for i := range t.NumField() {
		field := t.Field(i)
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case tag == "" && field.Anonymous && hasField(field.Type, path):
			return true
		case tag != name, strings.HasSuffix(first, "[]") && field.Type.Kind() != reflect.Slice, strings.HasSuffix(first, "{}") && field.Type.Kind() != reflect.Map:
		default:
			return !isDeeper || hasField(field.Type, rest)
		}
	}
	return false
}

// emptyIsTaken are required fields that may be empty: the API server stores the
// object, or a rule refuses it elsewhere.
var emptyIsTaken = map[string]string{
	"FieldsV1.-":                    "no field of the schema",
	"OwnerReference.apiVersion":     "no template has owners",
	"OwnerReference.kind":           "no template has owners",
	"OwnerReference.name":           "no template has owners",
	"OwnerReference.uid":            "no template has owners",
	"ObjectFieldSelector.fieldPath": "each place has its own paths",
	"ProjectedVolumeSource.sources": "stored",
	"HTTPHeader.value":              "stored",
	"Sysctl.value":                  "stored",
	"Container.name":                "a rule with a message of its own",
	"PodSpec.containers":            "a rule with a message of its own",
}

// TestRequiredFieldsAreNotEmpty: a text or a list that Kubernetes' types call required may not
// be empty either, which a schema does not say by itself.
func TestRequiredFieldsAreNotEmpty(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(of reflect.Type) {
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, of.Kind()) {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] || of == reflect.TypeFor[corev1.EphemeralContainer]() {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			field := of.Field(i)
			visit(field.Type)
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			isList := field.Type.Kind() == reflect.Slice
			if name == "" || strings.Contains(options, "omitempty") || !isList && field.Type.Kind() != reflect.String {
				continue
			}
			words, what := podValidation[of].fields[name], of.Name()+"."+name
			least, _ := words["minLength"].(int64)
			pattern, hasPattern := words["pattern"].(string)
			values, isEnum := words["enum"].([]any)
			switch {
			case isList:
				least, _ = words["minItems"].(int64)
				fallthrough
			case least > 0, hasPattern && !regexp.MustCompile(pattern).MatchString(""), isEnum && !slices.Contains(values, any("")):
				if least > 0 || !isList {
					require.NotContains(t, emptyIsTaken, what)
					continue
				}
				fallthrough
			default:
				if emptyIsTaken[what] == "" {
					t.Errorf("%s may be empty", what)
				}
			}
		}
	}
	visit(reflect.TypeFor[corev1.PodTemplateSpec]())
}

// TestEachTypeIsInOneTable, once: the later of two entries would replace the other.
func TestEachTypeIsInOneTable(t *testing.T) {
	files, err := filepath.Glob("pods_*.go")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			entry, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			call, ok := entry.Key.(*ast.CallExpr)
			if !ok {
				return true
			}
			key := types.ExprString(call.Fun)
			require.False(t, seen[key], "%s: %s is there already", name, key)
			seen[key] = true
			return true
		})
	}
	require.Len(t, seen, len(podValidation))
}
