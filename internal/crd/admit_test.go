package crd

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const boxCRD = `
metadata: {name: boxes.example.com}
spec:
  scope: Namespaced
  versions:
  - name: v1
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, x-kubernetes-validations: [{rule: "self >= oldSelf", message: "a box does not shrink: write at least what it had"}]}
              color: {type: string, default: brown, enum: [brown, blue]}
              lid: {type: object, default: {}, properties: {open: {type: boolean, default: false}}}
          status:
            type: object
            default: {phase: Unseen}
            properties: {phase: {type: string, enum: [Unseen, Seen]}}
`

// TestAdmitIsWhatTheAPIServerDoes with a creation, and with an edit of an object,
// which may be one that it would not take today.
func TestAdmitIsWhatTheAPIServerDoes(t *testing.T) {
	const header = "apiVersion: example.com/v1\nkind: Box\n"
	const stored = header + "metadata: {name: b, namespace: ns, uid: u, resourceVersion: '1'}\n"
	for name, test := range map[string]struct {
		object, old, want string
		unknown           []string
		errs              []string
	}{
		"defaults": {
			object: header + "metadata: {name: b}\nspec: {size: 1}",
			want:   header + "metadata: {name: b}\nspec: {size: 1, color: brown, lid: {open: false}}\nstatus: {phase: Unseen}",
		},
		"unknown fields": {
			object:  header + "metadata: {name: b, lables: {a: b}}\nspec: {size: 1, colour: blue, lid: {shut: true}}\ndata: 1",
			want:    header + "metadata: {name: b}\nspec: {size: 1, color: brown, lid: {open: false}}\nstatus: {phase: Unseen}",
			unknown: []string{"data", "metadata.lables", "spec.colour", "spec.lid.shut"},
		},
		"what is wrong": {
			object: header + "metadata: {name: B_1, labels: {a: '/'}}\nspec: {size: 0, color: red}",
			errs: []string{
				`metadata.labels: Invalid value: "/": a valid label must be`,
				`metadata.name: Invalid value: "B_1": a lowercase RFC 1123 subdomain must`,
				`spec.color: Unsupported value: "red": supported values: "brown", "blue"`,
				`spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1`,
			},
		},
		"no name":     {object: header + "spec: {size: 1}", errs: []string{"metadata.name: Required value: name or generateName is required"}},
		"no metadata": {object: header + "metadata: 5\nspec: {size: 1}", errs: []string{"metadata: Invalid value: null: json: cannot unmarshal number"}},
		"an edit": {
			object: stored + "spec: {size: 2}", old: stored + "spec: {size: 1, color: blue}",
			want: stored + "spec: {size: 2, color: brown, lid: {open: false}}\nstatus: {phase: Unseen}",
		},
		"an edit that a rule refuses": {
			object: stored + "spec: {size: 1}", old: stored + "spec: {size: 2}",
			errs: []string{"spec.size: Invalid value: 1: a box does not shrink: write at least what it had"},
		},
		"an edit of what is wrong already": {
			object: stored + "spec: {size: 2, color: red}", old: stored + "spec: {size: 1, color: red}",
			want: stored + "spec: {size: 2, color: red, lid: {open: false}}\nstatus: {phase: Unseen}",
		},
		"an edit to what is wrong": {
			object: stored + "spec: {size: 1, color: red}", old: stored + "spec: {size: 1, color: black}",
			errs: []string{`spec.color: Unsupported value: "red": supported values`},
		},
		"another name": {
			object: header + "metadata: {name: c, namespace: ns, uid: u, resourceVersion: '1'}\nspec: {size: 1}", old: stored + "spec: {size: 1}",
			errs: []string{`metadata.name: Invalid value: "c": field is immutable`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			schema, err := Load([]byte(boxCRD), "v1")
			require.NoError(t, err)
			object := decoded(t, test.object)
			unknown, errs := schema.Admit(context.Background(), object, decoded(t, test.old))
			require.Len(t, errs, len(test.errs), "%v", errs)
			for i, want := range test.errs {
				require.Contains(t, errs[i].Error(), want)
			}
			if test.want != "" {
				require.Equal(t, test.unknown, unknown)
				require.Equal(t, decoded(t, test.want), object)
			}
		})
	}
}

// TestAdmitOfAClusterScopedKind: its objects have no namespace, and the API server drops one that is written.
func TestAdmitOfAClusterScopedKind(t *testing.T) {
	schema, err := Load([]byte(strings.Replace(boxCRD, "scope: Namespaced", "scope: Cluster", 1)), "v1")
	require.NoError(t, err)
	const box = "apiVersion: example.com/v1\nkind: Box\nspec: {size: 1}\nmetadata: "
	_, errs := schema.Admit(t.Context(), decoded(t, box+"{name: b}"), nil)
	require.Empty(t, errs)
	named := decoded(t, box+"{name: b, namespace: ns}")
	_, errs = schema.Admit(t.Context(), named, nil)
	require.Empty(t, errs)
	require.Equal(t, map[string]any{"name": "b"}, named["metadata"])
}

func TestAStatusIsHeldToTheSchema(t *testing.T) {
	schema, err := Load([]byte(boxCRD), "v1")
	require.NoError(t, err)
	old := "metadata: {name: b}\nspec: {size: 0}\n" // an older schema took it
	object := decoded(t, old+"status: {phase: Seen, weight: 5}")
	unknown, errs := schema.AdmitStatus(context.Background(), object, decoded(t, old+"status: {phase: Unseen}"))
	require.Empty(t, errs)
	require.Equal(t, []string{"status.weight"}, unknown)
	_, errs = schema.AdmitStatus(context.Background(), decoded(t, old+"status: {phase: Lost}"), decoded(t, old+"status: {phase: Unseen}"))
	require.Len(t, errs, 1)
	require.Contains(t, errs[0].Error(), `status.phase: Unsupported value: "Lost"`)
}

// decoded returns an object as the API server reads it, or nil for no text.
func decoded(t *testing.T, text string) map[string]any {
	if text == "" {
		return nil
	}
	content, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	var object map[string]any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(content, &object))
	return object
}

func TestErrorsComeInOneOrder(t *testing.T) {
	schema, err := Load([]byte(boxCRD), "v1")
	require.NoError(t, err)
	first := ""
	for range 50 {
		object := decoded(t, "apiVersion: example.com/v1\nkind: Box\nmetadata: {name: B_1, labels: {a: '/'}}\nspec: {size: 0, color: red, lid: 5}")
		_, errs := schema.Admit(context.Background(), object, nil)
		require.Greater(t, len(errs), 4)
		if text := errs.ToAggregate().Error(); first == "" {
			first = text
		} else {
			require.Equal(t, first, text)
		}
	}
}
