package explore

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// put sets or removes the value at a path, and reports whether that was
// possible. Missing objects and items on the way are created with their
// required fields.
func put(object map[string]any, path []step, value any) bool {
	name := path[0].name
	if len(path) == 1 {
		if _, gone := value.(remove); gone {
			_, there := object[name]
			delete(object, name)
			return there
		}
		object[name] = runtime.DeepCopyJSONValue(value)
		return true
	}
	if path[1].name == "" {
		list, _ := object[name].([]any)
		if len(list) == 0 {
			list = []any{runtime.DeepCopyJSON(path[1].required)}
			object[name] = list
		}
		item, ok := list[0].(map[string]any)
		return ok && len(path) > 2 && put(item, path[2:], value)
	}
	inner, _ := object[name].(map[string]any)
	if inner == nil {
		inner = runtime.DeepCopyJSON(path[0].required)
		object[name] = inner
	}
	return put(inner, path[1:], value)
}

// withRequired returns an object with what its schema requires.
func withRequired(schema map[string]any) map[string]any {
	if schema["type"] != "object" {
		return nil
	}
	for _, object := range objects(schema, 0) {
		if object, ok := object.(map[string]any); ok {
			return object
		}
	}
	return map[string]any{}
}

// pathText returns a path as people write it.
func pathText(path []step) string {
	text := ""
	for _, part := range path {
		if part.name == "" {
			text += "[0]"
		} else {
			text += "." + part.name
		}
	}
	return strings.TrimPrefix(text, ".")
}
