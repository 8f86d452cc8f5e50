package explore

import (
	"math"
	"slices"
	"strings"
)

// oddTexts are neither names, paths, numbers nor addresses.
var oddTexts = []any{
	" ", "-", "-1", "0", "A B", "..", "../a", "a/b/c", "a:b", "héllo", "x\ny", "{", "$(A)", "1e30", "0.0001", "1.5Gi",
	"65536", "-a.", "a..b", "https://", "10.0.0.1", "fe80::1", "Always", "*",
}

// longest is the length of the longest text that is tried.
const longest = 300

// extremesOf returns values of a schema that nobody means. Not all of them are
// admitted.
func extremesOf(schema map[string]any, depth int) []any {
	if schema["enum"] != nil {
		return nil // all of them are tried as edits
	}
	if schema["x-kubernetes-int-or-string"] == true {
		return append(extremeNumbers(schema), oddTexts...)
	}
	switch schema["type"] {
	case "integer":
		return extremeNumbers(schema)
	case "string":
		return longTexts(schema)
	case "array":
		return extremeLists(schema, depth)
	case "object":
		return extremeMaps(schema, depth)
	}
	return nil
}

func extremeNumbers(schema map[string]any) []any {
	numbers := []int64{-1, 0, 65536, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt64}
	if most, ok := number(schema["maximum"]); ok {
		numbers = append(numbers, most)
	}
	return inOrder(numbers)
}

func longTexts(schema map[string]any) []any {
	list := slices.Clone(oddTexts)
	for _, length := range []int{64, longest} {
		if most, ok := number(schema["maxLength"]); !ok || int64(length) <= most {
			list = append(list, strings.Repeat("a", length))
		}
	}
	if most, ok := number(schema["maxLength"]); ok && most <= longest {
		list = append(list, strings.Repeat("a", int(most)))
	}
	return list
}

// extremeLists returns lists of one. Those of objects are tried field by field.
func extremeLists(schema map[string]any, depth int) []any {
	items, _ := schema["items"].(map[string]any)
	if items == nil || items["type"] == "object" || depth >= deepest {
		return nil
	}
	var list []any
	for _, value := range extremesOf(items, depth+1) {
		list = append(list, []any{value})
	}
	return list
}

// extremeMaps returns maps of one, with odd keys and with odd values.
func extremeMaps(schema map[string]any, depth int) []any {
	values, _ := schema["additionalProperties"].(map[string]any)
	if values == nil || depth >= deepest {
		return nil
	}
	var list []any
	for _, key := range []string{"cpu", "memory", "ephemeral-storage", "example.com/alpha"} {
		for _, value := range extremesOf(values, depth+1) {
			list = append(list, map[string]any{key: value})
		}
	}
	usual := valuesOf(values, depth+1)
	for _, key := range append(slices.Clone(oddTexts), "", "kubernetes.io/a", "A", strings.Repeat("a", 64)) {
		for _, value := range usual[:min(3, len(usual))] {
			list = append(list, map[string]any{key.(string): value})
		}
	}
	return list
}
