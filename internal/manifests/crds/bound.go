package crds

import (
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

// manyEntries are the lists and maps that may have [mostEntries]: what long programs have,
// and files.
var manyEntries = map[string]bool{"args": true, "command": true, "env": true, "envs": true, "items": true, "config": true}

// longTexts are the fields whose texts have no default limit: what runs in containers, and the
// values of HTTP headers, of environment variables and of annotations.
var longTexts = map[string]bool{"args": true, "command": true, "value": true, "env": true, "annotations": true, "podAnnotations": true, "gmsaCredentialSpec": true}

// boundEntries adds the default limits to each list and map of a schema without one.
func boundEntries(schema map[string]any, name string) {
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
	belowByName(schema, name, boundEntries)
}

// boundTexts adds a maximal length to each string of a schema without one.
func boundTexts(schema map[string]any, name string) {
	if isText(schema) && schema["maxLength"] == nil && schema["enum"] == nil && !longTexts[name] {
		schema["maxLength"] = int64(longestText)
	}
	belowByName(schema, name, boundTexts)
}

// isText reports whether a text is a value of a schema.
func isText(schema map[string]any) bool {
	return schema["type"] == "string" || schema["x-kubernetes-int-or-string"] == true
}

// belowByName calls visit with the schema of each field of an object, of each item of a list and of
// each value of a map, and the name of the field that it belongs to.
func belowByName(schema map[string]any, name string, visit func(schema map[string]any, name string)) {
	for _, keyword := range []string{"items", "additionalProperties"} {
		if inner := member(schema, keyword); inner != nil {
			visit(inner, name)
		}
	}
	for field := range member(schema, "properties") {
		visit(member(member(schema, "properties"), field), field)
	}
}

// lineEnd is U+0085. Under server-side apply Metacontroller sends children as YAML, in which it
// arrives as a space.
const lineEnd = `\x85`

// refuseLineEnds has no string of a schema admit a [lineEnd].
func refuseLineEnds(schema map[string]any, name string) {
	if pattern, has := schema["pattern"].(string); isText(schema) && has {
		schema["pattern"] = strings.ReplaceAll(pattern, "[^", "[^"+lineEnd)
	} else if isText(schema) && schema["enum"] == nil && schema["format"] == nil {
		schema["pattern"] = "^[^" + lineEnd + "]*$"
	}
	belowByName(schema, name, refuseLineEnds)
}

// The exponent of a quantity in Kubernetes' pattern, and the one that is admitted: to
// read a quantity takes time that grows with the square of its exponent.
const (
	anyExponent   = `([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+)))`
	shortExponent = `([eE](\+|-)?[0-9]{1,2})`
)

// boundQuantities adds a maximal length to each quantity of a schema, and to its exponent.
func boundQuantities(schema map[string]any) {
	if pattern, _ := schema["pattern"].(string); strings.Contains(pattern, anyExponent) {
		schema["pattern"] = strings.Replace(pattern, anyExponent, shortExponent, 1)
		schema["maxLength"] = int64(longestQuantity)
	}
	below(schema, boundQuantities)
}

// boundNumbers adds the range of its format to each number of a schema without one: the API server does
// not look at the format, and no hook can decode a larger number.
func boundNumbers(schema map[string]any) {
	below(schema, boundNumbers)
	switch {
	case schema["format"] == "int32", schema["x-kubernetes-int-or-string"] == true && schema["pattern"] == nil: // with one it is a quantity
		boundRange(schema, math.MinInt32, math.MaxInt32)
	case schema["format"] == "int64":
		// A limit is a floating-point number, of which this is the largest below 2^63, as it is printed.
		const most = 9223372036854775000
		boundRange(schema, -most, most)
	}
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
