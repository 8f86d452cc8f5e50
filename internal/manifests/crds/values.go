package crds

import (
	"math"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What the decoder reads as a time. The format date-time, which is validated as well, knows
// the days of each month, and admits hours after 23 and small letters.
const (
	timeBegin = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]`
	timeEnd   = `(Z|[-+]([01][0-9]|2[0-3]):[0-5][0-9])$`
)

// readableDuration admits what the decoder reads as a duration, and none of more than 292 years,
// which it refuses: each of up to 20 parts is less than 12.
var readableDuration = rule{
	`self == '0' || self.matches('^[-+]?([0-9]{1,5}([.][0-9]{1,9})?h|[0-9]{1,6}([.][0-9]{1,9})?m|[0-9]{1,8}([.][0-9]{1,9})?s|` +
		`[0-9]{1,11}([.][0-9]{1,9})?ms|[0-9]{1,14}([.][0-9]{1,9})?us|[0-9]{1,17}ns){1,20}$')`,
	"must be a duration with a unit, such as 90s, 1h30m or 250ms",
}

// boundValue has the schema of a field admit nothing that the decoder cannot read into its Go
// type: each sync of what could be stored would be refused.
func boundValue(schema map[string]any, t reflect.Type) {
	switch t {
	case reflect.TypeFor[metav1.Duration]():
		if schema["maxLength"] == nil {
			schema["maxLength"] = int64(longestQuantity)
		}
		addRule(schema, readableDuration)
	case reflect.TypeFor[metav1.Time]():
		boundForm(schema, timeBegin+`(\.[0-9]{1,9})?`+timeEnd)
	case reflect.TypeFor[metav1.MicroTime]():
		boundForm(schema, timeBegin+`\.[0-9]{6}`+timeEnd)
	case reflect.TypeFor[intstr.IntOrString]():
		if schema["x-kubernetes-validations"] == nil { // which may have other limits for a number
			boundRange(schema, math.MinInt32, math.MaxInt32)
		}
	}
}

// boundInteger is the same of an integer, unless its type writes it as a text. Limits are
// floating-point numbers, as which MaxInt64 is 2^63: those of 64 bits have the largest below
// that, as it is printed, so that a CRD is the same when the API server has read it.
func boundInteger(schema map[string]any, t reflect.Type) {
	const most = 9223372036854775000
	if schema["type"] != "integer" {
		return
	}
	switch value := reflect.Zero(t); {
	case value.CanInt() && t.Bits() < 64:
		boundRange(schema, -1<<(t.Bits()-1), 1<<(t.Bits()-1)-1)
	case value.CanInt():
		boundRange(schema, -most, most)
	case value.CanUint() && t.Bits() < 64:
		boundRange(schema, 0, 1<<t.Bits()-1)
	case value.CanUint():
		boundRange(schema, 0, most)
	}
}

// boundForm adds a pattern, unless the type's author has written one.
func boundForm(schema map[string]any, pattern string) {
	if schema["pattern"] == nil {
		schema["pattern"] = pattern
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
