package crd

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const remembered = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.example.com}
spec:
  group: example.com
  names: {kind: Toy, plural: toys}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - {rule: "self.fixed == oldSelf.fixed", message: "fixed is immutable"}
            properties:
              fixed: {type: string}
              since: {type: string, pattern: "^2026"}
              count: {type: integer, minimum: 1}
          status:
            type: object
            properties:
              since: {type: string, format: date-time}
              phase: {type: string, enum: [Old, New]}
`

// TestWhatIsKnownIsValid: what was found valid stands for nothing that is not.
func TestWhatIsKnownIsValid(t *testing.T) {
	compiled, err := Load([]byte(remembered), "v1")
	require.NoError(t, err)
	schema := compiled.Remembering()
	toy := func(spec, status map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "example.com/v1", "kind": "Toy", "spec": spec, "status": status,
			"metadata": map[string]any{"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "1"},
		}
	}
	good := toy(map[string]any{"fixed": "a", "since": "2026-01-01T00:00:00Z", "count": int64(1)}, map[string]any{"since": "2026-01-01T00:00:00Z", "phase": "New"})
	for range 2 {
		_, errs := schema.Admit(t.Context(), good, nil)
		require.Empty(t, errs)
		_, errs = schema.AdmitStatus(t.Context(), good, good)
		require.Empty(t, errs)
	}
	for message, bad := range map[string]map[string]any{
		"fixed is immutable": {"fixed": "b", "since": "2026-01-01T00:00:00Z", "count": int64(1)},
		"'^2026'":            {"fixed": "a", "since": "2027-01-01T00:00:00Z", "count": int64(1)},
		"greater than":       {"fixed": "a", "since": "2026-01-01T00:00:00Z", "count": int64(0)},
		"must be of type":    {"fixed": "a", "since": "2026-01-01T00:00:00Z", "count": 1.5},
	} {
		_, errs := schema.Admit(t.Context(), toy(bad, nil), good)
		require.ErrorContains(t, errs.ToAggregate(), message)
	}
	_, errs := schema.AdmitStatus(t.Context(), toy(nil, map[string]any{"since": "2027-01-01T00:00:00Z", "phase": "New"}), good)
	require.Empty(t, errs)
	for _, bad := range []map[string]any{{"since": "2027-99-01T00:00:00Z"}, {"since": "yesterday"}, {"phase": "Other"}} {
		_, errs := schema.AdmitStatus(t.Context(), toy(nil, bad), good)
		require.Len(t, errs, 1, bad)
	}
}

// TestDifferentContentIsNotKnown: members do not cancel each other out.
func TestDifferentContentIsNotKnown(t *testing.T) {
	seen := map[uint64]any{}
	for _, value := range []any{
		map[string]any{}, []any{}, nil, "", false, int64(0), 0.0,
		map[string]any{"a": "a"}, map[string]any{"b": "b"}, map[string]any{"a": "b"}, map[string]any{"b": "a"},
		map[string]any{"a": "a", "b": "b"}, map[string]any{"a": "b", "b": "a"}, map[string]any{"a": map[string]any{"a": "a"}},
		[]any{"a", "b"}, []any{"b", "a"}, []any{[]any{"a"}, "b"}, []any{map[string]any{"a": "a"}}, []any{map[string]any{"b": "b"}},
	} {
		key := new(known).hash(value)
		require.NotContains(t, seen, key, "%v is taken for %v", value, seen[key])
		seen[key] = value
	}
}
