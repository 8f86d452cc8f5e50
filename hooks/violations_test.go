package hooks_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/metacontroller"
)

// object is a JSON object: a value, or a schema.
type object = map[string]any

// violation is a spec that breaks one constraint of a schema.
type violation struct {
	constraint string // as in "maximum"
	node       string // the path of the schema with that constraint
	path       string // of the field that is wrong, as the API server tells it
	// before is the spec in which only that is still right, and after the one in
	// which it is wrong.
	before, after any
}

// violations are made from a schema alone: for each constraint in it a spec that
// breaks it, made of a valid one by adding what leads to the place.
type violations struct {
	*testing.T

	spec  any // valid
	found []violation
}

// withinSpec returns a violation of each constraint of a controller's CRD below
// spec, but for the rules.
func withinSpec(t *testing.T, controller metacontroller.Controller, spec any) []violation {
	root, err := crd.Written(controller.CRD.Text(), controller.Parent.Version())
	require.NoError(t, err)
	v := &violations{T: t, spec: spec}
	require.Contains(t, root["required"], "spec")
	v.found = append(v.found, violation{"required", "", "spec", spec, nil})
	v.walk(root["properties"].(object)["spec"].(object), "spec", func(at any) any { return at }, spec)
	return v.found
}

// understood are the keywords that are broken below, and those that constrain
// nothing by themselves.
var understood = []string{
	"type", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "format", "required", "minItems", "maxItems", "maxProperties",
	"x-kubernetes-list-type", "x-kubernetes-int-or-string", "properties", "items", "additionalProperties",
	"description", "default", "x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-preserve-unknown-fields",
	"anyOf",                // only of an int-or-string
	"not", "minProperties", // only of a quantity in a map, which has no type
	"x-kubernetes-validations", // see TestWhatARuleRefusesIsRefused
}

// walk breaks each constraint of one schema and of those in it. The function in
// puts a value at the place of the schema in a copy of the spec, and value is the
// one that stands there, or that may.
func (v *violations) walk(schema object, path string, in func(any) any, value any) {
	for keyword := range schema {
		require.Contains(v, understood, keyword, path)
	}
	add := func(constraint, wrongPath string, wrong any) {
		v.found = append(v.found, violation{constraint, path, wrongPath, in(value), in(wrong)})
	}
	v.breakScalar(schema, func(constraint string, wrong any) { add(constraint, path, wrong) })
	switch value := value.(type) {
	case object:
		v.breakObject(schema, path, value, add)
		properties, _ := schema["properties"].(object)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			inner, present := value[name]
			if !present {
				inner = v.instance(properties[name].(object), 0)
			}
			v.walk(properties[name].(object), path+"."+name, func(at any) any { return in(with(value, name, at)) }, inner)
		}
		if inner, ok := schema["additionalProperties"].(object); ok {
			v.walk(inner, path+".key", func(at any) any { return in(with(value, "key", at)) }, v.instance(inner, 0))
		}
	case []any:
		v.breakList(schema, path, add)
		items := schema["items"].(object)
		v.walk(items, path+"[0]", func(at any) any { return in([]any{at}) }, v.instance(items, 0))
	}
}

func with(value object, name string, at any) object {
	changed := maps.Clone(value)
	changed[name] = at
	return changed
}

func (v *violations) breakScalar(schema object, add func(constraint string, wrong any)) {
	switch schema["type"] {
	case "string":
		add("type", int64(7))
	case "integer", "number", "boolean", "object", "array":
		add("type", "a text")
	default:
		require.True(v, schema["x-kubernetes-int-or-string"] == true || isFreeQuantity(schema))
		add("type", object{})
	}
	if schema["enum"] != nil {
		add("enum", "none-of-these")
	}
	if least, ok := schema["minimum"].(float64); ok {
		add("minimum", int64(least)-1)
	}
	if most, ok := schema["maximum"].(float64); ok {
		add("maximum", int64(most)+1)
	}
	if least, ok := schema["minLength"].(float64); ok {
		add("minLength", strings.Repeat("a", int(least)-1))
	}
	if most, ok := schema["maxLength"].(float64); ok {
		add("maxLength", strings.Repeat("1", int(most)+1))
	}
	if pattern, ok := schema["pattern"].(string); ok {
		candidates := []string{"", "-", "A B", "?", " a", "/a", "=", "..", "\u0085"}
		i := slices.IndexFunc(candidates, func(text string) bool { return !regexp.MustCompile(pattern).MatchString(text) })
		require.GreaterOrEqual(v, i, 0, "nothing breaks %s", pattern)
		add("pattern", candidates[i])
	}
	switch schema["format"] {
	case nil, "int64": // which has all integers
	case "int32":
		add("format", int64(1)<<31)
	case "date-time":
		add("format", "yesterday")
	default:
		require.Fail(v, "unknown format", schema["format"])
	}
}

// isFreeQuantity reports whether a schema is a quantity in a map, which may be any number, and so has no type.
func isFreeQuantity(schema object) bool { return schema["type"] == nil && schema["not"] != nil }

func (v *violations) breakObject(schema object, path string, value object, add func(constraint, path string, wrong any)) {
	required, _ := schema["required"].([]any)
	for _, name := range required {
		property := schema["properties"].(object)[name.(string)].(object)
		if property["default"] == nil { // or it comes back
			without := maps.Clone(value)
			delete(without, name.(string))
			add("required", path+"."+name.(string), without)
		}
	}
	if most, ok := schema["maxProperties"].(float64); ok {
		many := object{}
		for i := 0; len(many) <= int(most); i++ {
			many[fmt.Sprintf("k%d", i)] = v.instance(schema["additionalProperties"].(object), i)
		}
		add("maxProperties", path, many)
	}
}

func (v *violations) breakList(schema object, path string, add func(constraint, path string, wrong any)) {
	items := schema["items"].(object)
	if least, ok := schema["minItems"].(float64); ok {
		require.EqualValues(v, 1, least)
		add("minItems", path, []any{})
	}
	if most, ok := schema["maxItems"].(float64); ok {
		var many []any
		for i := range int(most) + 1 {
			many = append(many, v.instance(items, i))
		}
		add("maxItems", path, many)
	}
	switch schema["x-kubernetes-list-type"] {
	case "set", "map":
		add("x-kubernetes-list-type", path+"[1]", []any{v.instance(items, 0), v.instance(items, 0)})
	}
}

// instance returns a small value that fits a schema, another one for another n
// where there is more than one.
func (v *violations) instance(schema object, n int) any {
	if value := schema["default"]; value != nil {
		return runtime.DeepCopyJSONValue(value)
	}
	if values, ok := schema["enum"].([]any); ok {
		return values[0]
	}
	switch schema["type"] {
	case "object":
		value := object{}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			value[name.(string)] = v.instance(schema["properties"].(object)[name.(string)].(object), n)
		}
		return value
	case "array":
		list := []any{}
		least, _ := schema["minItems"].(float64)
		for i := range int(least) {
			list = append(list, v.instance(schema["items"].(object), n+i))
		}
		return list
	case "boolean":
		return true
	case "string":
		if schema["format"] == "date-time" {
			return "2026-01-02T03:04:05Z"
		}
		return fmt.Sprintf("a%d", n)
	default:
		least, _ := schema["minimum"].(float64)
		return int64(least) + int64(n)
	}
}
