package crd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/deploy"
	"github.com/operetta-dev/operetta/internal/crd"
)

func load(t testing.TB, kind, version string) *crd.Schema {
	schema, err := crd.Load(deploy.CRD(kind).Text(), version)
	require.NoError(t, err)
	return schema
}

func podSet(spec string) map[string]any {
	object := map[string]any{"apiVersion": "apps.jicki.cn/v1alpha1", "kind": "PodSet", "metadata": map[string]any{"name": "cache"}}
	var decoded any
	decoder := json.NewDecoder(strings.NewReader(spec))
	if err := decoder.Decode(&decoded); err != nil {
		panic(err)
	}
	object["spec"] = whole(decoded)
	return object
}

// whole makes integers of whole numbers, as the API server reads them.
func whole(value any) any {
	switch value := value.(type) {
	case float64:
		return int64(value)
	case map[string]any:
		for name := range value {
			value[name] = whole(value[name])
		}
	case []any:
		for i := range value {
			value[i] = whole(value[i])
		}
	}
	return value
}

// TestErrorsAreTheAPIServers holds the texts to those that kubectl shows.
func TestErrorsAreTheAPIServers(t *testing.T) {
	schema := load(t, "podset", "v1alpha1")
	for spec, want := range map[string]string{
		`{"size":1}`: "",
		`{}`:         "spec.size: Required value",
		`{"size":-1}`: "spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0\n" +
			".spec.size: Invalid value: -1: should be a non-negative integer",
		`{"size":"1"}`: "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \"string\"\n" +
			".spec.size: Invalid value: 0: .spec.size accessor error: 1 is of the type string, expected int64",
		`{"size":1,"maxUnavailable":"200%"}`: `spec.maxUnavailable: Invalid value: "200%": use a number of Pods from 0 to 5000, or a percentage from 0% to 100%`,
	} {
		object := podSet(spec)
		schema.Default(object)
		var told []string
		for _, err := range schema.Validate(context.Background(), object) {
			told = append(told, err.Error())
		}
		require.Equal(t, want, strings.Join(told, "\n"), spec)
	}
}

func TestDefaultsAndUnknownFields(t *testing.T) {
	schema := load(t, "podset", "v1alpha1")
	object := podSet(`{"size":1,"sise":2,"template":{"spec":{"containers":[{"name":"a","imagePulPolicy":"Always"}]}}}`)
	require.ElementsMatch(t, []string{"spec.sise", "spec.template.spec.containers[0].imagePulPolicy"}, schema.Prune(object))
	schema.Default(object)
	require.EqualValues(t, 1, object["spec"].(map[string]any)["maxUnavailable"])
	require.NotContains(t, object["spec"], "sise")
}

// TestManyValuesAreRefusedAtOnce: the validator of Kubernetes takes minutes for as many errors.
func TestManyValuesAreRefusedAtOnce(t *testing.T) {
	schema := load(t, "podset", "v1alpha1")
	container := fmt.Sprintf(`{"name":"a","env":[%s]}`, strings.Repeat(`1,`, 999)+`1`)
	validate := func(containers int) string {
		object := podSet(fmt.Sprintf(`{"size":1,"template":{"spec":{"containers":[%s]}}}`, strings.Repeat(container+",", containers-1)+container))
		start := time.Now()
		errs := schema.Validate(context.Background(), object)
		require.Less(t, time.Since(start), time.Minute)
		return crd.Brief(errs)
	}
	require.Regexp(t, `^spec\.template\.spec\.containers\[0\]\.env.*; and \d+ more$`, validate(2))
	require.Equal(t, "must have at most 20000 values", validate(60))
}

func TestBriefNamesNoPathOfTheWholeObject(t *testing.T) {
	schema, err := crd.Load([]byte(`
metadata: {name: names.example.com}
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations: [{rule: "self.metadata.name != 'a'", message: "metadata.name is taken: write another"}]
`), "v1")
	require.NoError(t, err)
	errs := schema.Validate(context.Background(), map[string]any{"metadata": map[string]any{"name": "a"}})
	require.Equal(t, "metadata.name is taken: write another", crd.Brief(errs))
}

func TestUnfitDefinitions(t *testing.T) {
	for text, want := range map[string]string{
		"a: [":    "reading the CustomResourceDefinition: ",
		"spec: 5": "reading the CustomResourceDefinition: ",
		"metadata: {name: a}\nspec: {versions: [{name: v1}]}":                                                                        "compiling version v1 of the CustomResourceDefinition a: it has no schema",
		"metadata: {name: a}\nspec: {versions: [{name: v2}]}":                                                                        "the CustomResourceDefinition a has no version v1",
		"metadata: {name: a}\nspec: {versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {a: {$ref: x}}}}}]}": "compiling version v1",
	} {
		_, err := crd.Load([]byte(text), "v1")
		require.ErrorContains(t, err, want)
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, kind := range []string{"dataservice", "podset"} {
		b.Run(kind, func(b *testing.B) {
			version := map[string]string{"dataservice": "v1", "podset": "v1alpha1"}[kind]
			for b.Loop() {
				load(b, kind, version)
			}
		})
	}
}
