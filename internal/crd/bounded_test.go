package crd

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

const stepsCRD = `
metadata: {name: lists.example.com}
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          free: {type: array, items: {type: string}}
          bound: {type: array, maxItems: 10, items: {type: array, items: {type: string}}}
          byName: {type: object, maxProperties: 10, additionalProperties: {type: string}}
`

// ending is a context that ends when it has been asked so many times.
type ending struct {
	context.Context

	left *int
}

// Err implements [context.Context].
func (e ending) Err() error {
	if *e.left--; *e.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestStoppingSavesSteps counts values and not seconds: in what is too large for
// its schema none is looked at, and none after the time is up or there are too
// many errors.
func TestStoppingSavesSteps(t *testing.T) {
	const many = 20_000
	schema, err := Load([]byte(stepsCRD), "v1")
	require.NoError(t, err)
	strings, lists, numbers, byName := make([]any, many), make([]any, many), make([]any, many), map[string]any{}
	for i := range many {
		strings[i], lists[i], numbers[i], byName[fmt.Sprint(i)] = "a", []any{"a"}, int64(1), "a"
	}
	const root = 1
	for name, test := range map[string]struct {
		object      map[string]any
		asked       int // until the time is up
		steps, errs int
	}{
		"a list that fits":         {map[string]any{"free": strings}, 10 * many, root + 1 + many, 0},
		"a list that is too long":  {map[string]any{"bound": lists}, 10 * many, root + 1, 1},
		"a map that is too large":  {map[string]any{"byName": byName}, 10 * many, root + 1, 1},
		"both, and one that fits":  {map[string]any{"bound": lists, "byName": byName, "free": strings[:5]}, 10 * many, root + 3 + 5, 2},
		"the time is up at once":   {map[string]any{"free": strings}, 0, 0, 0},
		"the time is up in a list": {map[string]any{"free": strings}, 100, 100, 0},
		"too many errors":          {map[string]any{"free": numbers}, 10 * many, root + 1 + maxErrors + 1, maxErrors + 1},
	} {
		t.Run(name, func(t *testing.T) {
			look := walker{ctx: ending{context.Background(), &test.asked}}
			look.visit(schema.nodes, nil, test.object)
			require.Equal(t, test.steps, look.steps)
			require.Len(t, look.errs, test.errs)
		})
	}
}

func TestBriefNamesNoPathOfTheWholeObject(t *testing.T) {
	schema, err := Load([]byte(`
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
	require.Equal(t, "metadata.name is taken: write another", Brief(errs))
}
