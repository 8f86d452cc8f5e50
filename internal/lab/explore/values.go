package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// texts are tried for string fields.
var texts = []any{
	"alpha", "beta-2", "nginx:1.28", "/data", "100m", "1Gi", "2", "50%", "https://example.com/a.git", "http://example.com",
	"mysql://db:3306", "TCP", "UDP", "10s", "example.com/name", "app", "ClientIP", "IfNotPresent", "A_B", "",
}

// deepest is the depth to which required objects are generated.
const deepest = 6

// valuesOf returns values of a schema, the most likely first. Not all of them
// are admitted.
func valuesOf(schema map[string]any, depth int) []any {
	if list, ok := schema["enum"].([]any); ok {
		return list
	}
	if schema["x-kubernetes-int-or-string"] == true {
		return []any{int64(1), int64(2), "50%", "100m", "1Gi", "2", "http"}
	}
	switch schema["type"] {
	case nil: // a quantity of a map
		return []any{"100m", "1Gi", 0.5, int64(1)}
	case "boolean":
		return []any{true, false}
	case "integer":
		return integers(schema)
	case "number":
		return []any{1.5}
	case "string":
		if most, limited := number(schema["maxLength"]); limited && most <= 64 {
			return append(slices.Clone(texts), strings.Repeat("a", int(most)))
		}
		return texts
	case "array":
		return lists(schema, depth)
	case "object":
		return objects(schema, depth)
	}
	return nil
}

func integers(schema map[string]any) (list []any) {
	numbers := []int64{0, 1, 2, 3, 8080, 30100}
	if least, ok := number(schema["minimum"]); ok {
		numbers = append(numbers, least, least+1)
	}
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		list = append(list, n)
	}
	return list
}

// number returns a number of a schema, which was read from YAML.
func number(value any) (int64, bool) {
	n, ok := value.(float64)
	return int64(n), ok
}

// lists returns lists of one and of two items, which share whatever they may
// share.
func lists(schema map[string]any, depth int) []any {
	list := []any{[]any{}}
	items, _ := schema["items"].(map[string]any)
	if items == nil || depth >= deepest {
		return list
	}
	values := valuesOf(items, depth+1)
	for _, value := range values[:min(3, len(values))] {
		list = append(list, []any{value})
	}
	if len(values) > 1 {
		list = append(list, []any{values[0], values[1]}, []any{values[1], values[0]}, []any{values[0], values[0]})
	}
	return list
}

// objects returns two objects with their required fields, or maps of one member.
func objects(schema map[string]any, depth int) []any {
	list := []any{}
	if values, isMap := schema["additionalProperties"].(map[string]any); isMap {
		list = append(list, map[string]any{})
		values := valuesOf(values, depth+1)
		for _, key := range []string{"alpha", "cpu"} { // the second is a resource
			for _, value := range values[:min(2, len(values))] {
				list = append(list, map[string]any{key: value})
			}
		}
		return list
	}
	if depth >= deepest {
		return []any{map[string]any{}}
	}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for variant := range 2 {
		object := map[string]any{}
		for _, name := range required {
			inner, _ := properties[fmt.Sprint(name)].(map[string]any)
			if values := admitted(inner, valuesOf(inner, depth+1)); len(values) > 0 {
				object[fmt.Sprint(name)] = values[min(variant, len(values)-1)]
			}
		}
		if isContainer := properties["image"] != nil && properties["name"] != nil; isContainer {
			object["image"] = "nginx:1.28" // it is not required, but every container needs one
		}
		list = append(list, object)
	}
	return list
}

// withRequired returns an object with what its schema requires.
func withRequired(schema map[string]any) map[string]any {
	if schema["type"] == "object" {
		if list := objects(schema, 0); len(list) > 0 {
			return list[0].(map[string]any)
		}
	}
	return map[string]any{}
}

// patterned are texts that patterns ask for.
var patterned = []any{"limits.cpu", "/alpha", "alpha.example.com/beta"}

// expressions are compiled patterns of schemas: the same few are in hundreds of places.
var expressions sync.Map // of string to *regexp.Regexp

// admitted returns the values that the range or the pattern of a schema admits, or all of them if
// it admits none.
func admitted(schema map[string]any, values []any) []any {
	least, hasLeast := number(schema["minimum"])
	pattern, _ := schema["pattern"].(string)
	matching, known := expressions.Load(pattern)
	if !known {
		matching, _ = expressions.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	if pattern != "" {
		values = slices.Concat(values, patterned)
	}
	kept := slices.DeleteFunc(slices.Clone(values), func(value any) bool {
		switch value := value.(type) {
		case int64:
			return hasLeast && value < least
		case string:
			return !matching.(*regexp.Regexp).MatchString(value)
		}
		return false
	})
	if len(kept) == 0 {
		return values
	}
	return kept
}
