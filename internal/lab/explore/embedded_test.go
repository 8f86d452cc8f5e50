package explore

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
)

// templateSchema returns the schema of a Pod template, as package crd generates it.
func templateSchema(t *testing.T) string {
	text, err := os.ReadFile("../../../deploy/crds/myjob.yaml")
	require.NoError(t, err)
	written, err := crd.Written(text, "v1beta1")
	require.NoError(t, err)
	template, _, err := unstructured.NestedMap(written, "properties", "spec", "properties", "template", "properties", "spec")
	require.NoError(t, err)
	template = map[string]any{"type": "object", "properties": map[string]any{"spec": withoutRules(template)}}
	schema, err := json.Marshal(template)
	require.NoError(t, err)
	return string(schema)
}

func withoutRules(schema map[string]any) map[string]any {
	eachObject(schema, func(part map[string]any) { delete(part, "x-kubernetes-validations") })
	return schema
}

// TestRefusalOfATemplateIsTold: what a user writes into an embedded type is the user's, and the
// same in a field of the kind's own, or made by the hook, is the operator's.
func TestRefusalOfATemplateIsTold(t *testing.T) {
	controller := toys(`{"type":"string"}`, templateSchema(t), func(parent *toy) []metacontroller.Object {
		labels := map[string]string{"toy": parent.Name}
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: parent.Name}}
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template = parent.Spec.Template
		deployment.Spec.Template.Labels = labels
		main := corev1.Container{Name: "main", Image: parent.Spec.Image}
		if parent.Spec.Image == "bad:1" {
			main.Name = "Main"
		}
		deployment.Spec.Template.Spec.Containers = append(deployment.Spec.Template.Spec.Containers, main)
		return []metacontroller.Object{deployment}
	}, metacontroller.Child{Resource: metacontroller.Deployment, Update: metacontroller.InPlace})
	const whole = `{"image":"x:1","template":{"spec":{"containers":[{"name":"side","image":"y:1"}]}}}`
	for name, c := range map[string]struct{ spec, law string }{
		"an image that the user left empty": {`{"image":"x:1","template":{"spec":{"containers":[{"name":"side","image":""}]}}}`, ""},
		"one that the user left out":        {`{"image":"x:1","template":{"spec":{"containers":[{"name":"side"}]}}}`, ""},
		"a name that the user wrote":        {`{"image":"x:1","template":{"spec":{"containers":[{"name":"A_B","image":"y:1"}]}}}`, ""},
		"a mount that the user wrote":       {`{"image":"x:1","template":{"spec":{"containers":[{"name":"side","image":"y:1","volumeMounts":[{"name":"none","mountPath":"/x"}]}]}}}`, ""},
		"a probe without a handler":         {`{"image":"x:1","template":{"spec":{"containers":[{"name":"side","image":"y:1","readinessProbe":{}}]}}}`, ""},
		"a probe with two":                  {`{"image":"x:1","template":{"spec":{"containers":[{"name":"side","image":"y:1","livenessProbe":{"exec":{"command":["a"]},"tcpSocket":{"port":1}}}]}}}`, ""},
		"variables from nowhere":            {`{"image":"x:1","template":{"spec":{"containers":[{"name":"side","image":"y:1","envFrom":[{}],"env":[{"name":"A","valueFrom":{}}]}]}}}`, ""},
		"a volume of two types":             {`{"image":"x:1","template":{"spec":{"containers":[{"name":"side","image":"y:1"}],"volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/x"}}]}}}`, ""},
		"an image of the kind's own":        {`{"image":"","template":{"spec":{"containers":[{"name":"side","image":"y:1"}]}}}`, lawAccepted},
		"a name that the hook made":         {`{"image":"bad:1","template":{"spec":{"containers":[{"name":"side","image":"y:1"}]}}}`, lawAccepted},
	} {
		for _, apply := range []player.Strategy{player.DynamicApply, player.ServerSideApply} {
			t.Run(name+"/"+string(apply), func(t *testing.T) {
				created := toyScenario(apply, controller, c.spec).Play(nil)
				live := toyScenario(apply, controller, whole)
				schedule, err := ParseSchedule("calm 60\nedit Toy/t {\"spec\":" + c.spec + "}")
				require.NoError(t, err)
				for _, run := range []*Run{created, live.Play(schedule)} {
					if c.law == "" {
						require.Nil(t, run.Broken, "%v", run.Broken)
					} else {
						require.NotNil(t, run.Broken)
						require.Equal(t, c.law, run.Broken.Law, run.Broken.Detail)
					}
				}
			})
		}
	}
}

// TestTypesOfPodsAreToldApart: a type of a kind's own may have the fields of one, and what a hook may
// not change is its mistake, whoever wrote the value.
func TestTypesOfPodsAreToldApart(t *testing.T) {
	type resources struct { // as those of a container
		Limits   map[string]string `json:"limits"`
		Requests map[string]string `json:"requests"`
		Claims   []string          `json:"claims"`
	}
	type box struct {
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Own  resources                    `json:"own"`
			Pods *corev1.ResourceRequirements `json:"pods"`
			Many []corev1.Volume              `json:"many"`
		} `json:"spec"`
	}
	const fields = `{type: object, properties: {limits: {type: object}, requests: {type: object}, claims: {type: array}}}`
	controller := metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Box", Plural: "boxes"},
		CRD: metacontroller.NewCRD([]byte(`{spec: {versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
			own: ` + fields + `, pods: ` + fields + `, many: {type: array, items: {type: object, properties: {hostPath: {type: object, properties: {type: {type: string}}}}}}}}}}}}]}}`)),
		Sync: metacontroller.Sync(func(*box, metacontroller.Observed) (metacontroller.Result[struct{}], error) {
			return metacontroller.Result[struct{}]{}, nil
		}),
	}
	schema, err := writtenSchema(&controller)
	require.NoError(t, err)
	requests := map[string]any{"requests": map[string]any{"cpu": "2"}}
	path := field.NewPath("spec", "type")
	for name, test := range map[string]struct {
		cause *field.Error
		spec  map[string]any
		want  bool
	}{
		"a type of Pods": {field.Invalid(path.Child("requests"), "2", "too many"), map[string]any{"pods": requests}, true},
		"its double":     {field.Invalid(path.Child("requests"), "2", "too many"), map[string]any{"own": requests}, false},
		"in a list":      {field.Invalid(path, "Disk", "no type"), map[string]any{"many": []any{map[string]any{"hostPath": map[string]any{"type": "Disk"}}}}, true},
		"what may not change": {
			field.Invalid(path, "Disk", validation.FieldImmutableErrorMsg),
			map[string]any{"many": []any{map[string]any{"hostPath": map[string]any{"type": "Disk"}}}}, false,
		},
	} {
		require.Equal(t, test.want, stands(test.cause, schema, map[string]any{"spec": test.spec}, false), name)
	}
}

// TestUnionsAreNotEmptied: neither by an edit of the object, nor by one that takes its member.
func TestUnionsAreNotEmptied(t *testing.T) {
	controller := toys(`{"type":"string"}`, templateSchema(t), func(*toy) []metacontroller.Object { return nil })
	s := toyScenario(player.ServerSideApply, controller, `{"template":{"spec":{"containers":[{"name":"a",
		"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"a","key":"b"}}}]}]}}}`)
	edits, err := s.Edits(t.Context())
	require.NoError(t, err)
	const path = "spec.template.spec.containers[0].env[0].valueFrom"
	seen := 0
	for _, edit := range edits {
		if strings.HasPrefix(edit.Path, path) {
			require.NotContains(t, encode(edit.Patch()), `"valueFrom":{}`, edit.Path)
			seen++
		}
	}
	require.Positive(t, seen)
}
