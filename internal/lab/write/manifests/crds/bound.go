package crds

import (
	"fmt"
	"math"
	"strings"
)

// Default limits of a spec, where its types have none. They keep what a hook has to read small, and let the
// API server estimate what a CEL rule costs, which it does from the longest lists and texts.
const (
	mostEntries     = 1000
	fewEntries      = 100
	longestText     = 1024
	longestQuantity = 64
)

// limits is the comment at the head of a definition.
var limits = fmt.Sprintf(`# What has no limit in its Go type has one here: lists and maps have at most %d entries (args, command, env, envs, items,
# config and values %d), texts %d characters, quantities %d, and numbers the range of their format. No text has U+0085. See
# https://github.com/operetta-dev/operetta/blob/main/docs/authors.md#limits-that-generate-adds
`, fewEntries, mostEntries, longestText, longestQuantity)

// manyEntries are the lists and maps that may have [mostEntries]: what long programs have,
// files, and the values of a label, which name all types of nodes.
var manyEntries = map[string]bool{"args": true, "command": true, "env": true, "envs": true, "items": true, "config": true, "values": true}

// longTexts are the fields whose texts have no default limit: what runs in containers, and the
// values of HTTP headers, of environment variables and of annotations.
var longTexts = map[string]bool{"args": true, "command": true, "value": true, "env": true, "annotations": true, "podAnnotations": true, "gmsaCredentialSpec": true}

// lineEnd is U+0085. Under server-side apply Metacontroller sends children as YAML, in which it
// arrives as a space.
const lineEnd = `\x85`

// bound adds the default limits to each list, map and string of a schema without one, and has no
// string admit a [lineEnd].
func bound(schema map[string]any, name string) {
	limit := fewEntries
	if manyEntries[name] {
		limit = mostEntries
	}
	if schema["type"] == "array" && schema["maxItems"] == nil {
		schema["maxItems"] = limit
	}
	if member(schema, "additionalProperties") != nil && schema["maxProperties"] == nil {
		schema["maxProperties"] = limit
	}
	if isText(schema) && schema["maxLength"] == nil && schema["enum"] == nil && !longTexts[name] {
		schema["maxLength"] = int64(longestText)
	}
	if pattern, has := schema["pattern"].(string); isText(schema) && has {
		schema["pattern"] = strings.ReplaceAll(pattern, "[^", "[^"+lineEnd)
	} else if isText(schema) && schema["enum"] == nil {
		schema["pattern"] = "^[^" + lineEnd + "]*$"
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if inner := member(schema, keyword); inner != nil {
			bound(inner, name)
		}
	}
	for field := range member(schema, "properties") {
		bound(member(member(schema, "properties"), field), field)
	}
}

// isText reports whether a text is a value of a schema.
func isText(schema map[string]any) bool {
	return schema["type"] == "string" || schema["x-kubernetes-int-or-string"] == true
}

// The exponent of a quantity in Kubernetes' pattern, and the one that is admitted: to
// read a quantity takes time that grows with the square of its exponent.
const (
	anyExponent   = `([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+)))`
	shortExponent = `([eE](\+|-)?[0-9]{1,2})`
)

// boundValues adds a maximal length to each quantity of a schema and to its exponent, and the range
// of its format to each number without one: the API server does not look at the format, and no hook
// can decode a larger number.
func boundValues(schema map[string]any) {
	below(schema, boundValues)
	pattern, _ := schema["pattern"].(string)
	if values := member(schema, "additionalProperties"); values["x-kubernetes-int-or-string"] == true && values["maxLength"] == int64(longestQuantity) {
		admitFractions(values)
	}
	switch {
	case strings.Contains(pattern, anyExponent):
		schema["pattern"] = strings.Replace(pattern, anyExponent, shortExponent, 1)
		schema["maxLength"] = int64(longestQuantity)
	case schema["format"] == "int32", schema["x-kubernetes-int-or-string"] == true && pattern == "":
		boundRange(schema, math.MinInt32, math.MaxInt32)
	case schema["format"] == "int64":
		// A limit is a floating-point number, of which this is the largest below 2^63, as it is printed.
		const most = 9223372036854775000
		boundRange(schema, -most, most)
	}
}

// admitFractions has a quantity in a map, as in limits, admit a number such as 0.5, as Kubernetes does
// in a Pod. x-kubernetes-int-or-string admits only whole ones, and anyOf cannot name other types. So the
// schema has no type, and refuses what is neither a number nor a text by other words. No CEL rule can
// read such a map; a quantity that is a field keeps its type, so that rules can read it.
func admitFractions(schema map[string]any) {
	delete(schema, "anyOf")
	delete(schema, "x-kubernetes-int-or-string")
	schema["x-kubernetes-preserve-unknown-fields"] = true
	schema["minItems"], schema["maxItems"] = int64(1), int64(0)
	schema["minProperties"], schema["maxProperties"] = int64(1), int64(0)
	schema["not"] = map[string]any{"enum": []any{true, false}}
}

// boundRange adds the limits that the type's author has not written.
func boundRange(schema map[string]any, least, most int64) {
	if schema["minimum"] == nil {
		schema["minimum"] = least
	}
	if schema["maximum"] == nil {
		schema["maximum"] = most
	}
}
