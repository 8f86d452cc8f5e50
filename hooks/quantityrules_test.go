package hooks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/crd"
)

// slowQuantities are refused by their pattern, but not so that the API server would
// leave the rules of a schema out: one that reads them takes minutes and more.
var slowQuantities = []string{"1234567890123456789012e150000000", "1E+0000000150000000", "-1e-150000000", "1e150000000"}

// TestRulesReadNoSlowQuantity puts such quantities before each rule of each CRD that
// reads quantities, by the API server's own code.
func TestRulesReadNoSlowQuantity(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make cover")
	}
	paths, err := filepath.Glob("../deploy/crds/*.yaml")
	require.NoError(t, err)
	found := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var definition map[string]any
		require.NoError(t, yaml.Unmarshal(text, &definition))
		eachRule(definition, func(rule string, schema map[string]any) {
			if !strings.Contains(strings.ToLower(rule), "quantity(") {
				return
			}
			found++
			for _, quantity := range slowQuantities {
				value := filledWith(schema, quantity)
				require.Contains(t, fmt.Sprint(value), quantity, "the value has a quantity for %s", rule)
				requireJudgedAtOnce(t, rule, schema, value)
			}
		})
	}
	require.Positive(t, found)
}

// eachRule calls visit for each rule of a schema and of all below it.
func eachRule(value any, visit func(rule string, schema map[string]any)) {
	switch value := value.(type) {
	case map[string]any:
		rules, _ := value["x-kubernetes-validations"].([]any)
		for _, rule := range rules {
			visit(rule.(map[string]any)["rule"].(string), value)
		}
		for _, inner := range value {
			eachRule(inner, visit)
		}
	case []any:
		for _, inner := range value {
			eachRule(inner, visit)
		}
	}
}

// filledWith returns a value of a schema in which each quantity is the given one,
// and that has nothing else.
func filledWith(schema map[string]any, quantity string) any {
	if pattern, _ := schema["pattern"].(string); strings.Contains(pattern, "[KMGTPE]i") {
		return quantity
	}
	object := map[string]any{}
	fill := func(name string, inner any) {
		if inner, isMap := inner.(map[string]any); isMap {
			if value := filledWith(inner, quantity); value != nil {
				object[name] = value
			}
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, inner := range properties {
		fill(name, inner)
	}
	fill("cpu", schema["additionalProperties"])
	fill("example.com/device", schema["additionalProperties"])
	switch {
	case schema["items"] != nil:
		if item := filledWith(schema["items"].(map[string]any), quantity); item != nil {
			return []any{item}
		}
	case len(object) > 0:
		return object
	}
	return nil
}

// requireJudgedAtOnce validates a value by its schema alone.
func requireJudgedAtOnce(t *testing.T, rule string, schema map[string]any, value any) {
	t.Helper()
	definition, err := yaml.Marshal(map[string]any{"spec": map[string]any{"versions": []any{map[string]any{
		"name": "v1", "schema": map[string]any{"openAPIV3Schema": map[string]any{
			"type": "object", "properties": map[string]any{"spec": schema},
		}},
	}}}})
	require.NoError(t, err)
	alone, err := crd.Load(definition, "v1")
	require.NoError(t, err)
	object := map[string]any{"apiVersion": "example.com/v1", "kind": "Alone", "metadata": map[string]any{"name": "a"}, "spec": value}
	judged := make(chan string, 1)
	go func() { judged <- fmt.Sprint(alone.Validate(t.Context(), object)) }()
	select {
	case text := <-judged:
		require.Contains(t, text, "should match", "the pattern refuses it")
	case <-time.After(10 * time.Second): // it takes some milliseconds
		t.Fatalf("%v takes long: %s", value, rule)
	}
}
