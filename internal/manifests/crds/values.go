package crds

import (
	"math"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What the decoder reads as a time. The format date-time, which is validated as well, knows
// the days of each month, and admits hours after 23 and small letters.
const (
	timeBegin = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]`
	timeEnd   = `(Z|[-+]([01][0-9]|2[0-3]):[0-5][0-9])$`
)

// readableDuration is what the decoder reads as a duration, and none of more than 292 years,
// which it refuses: each of up to 20 parts is less than 12. A rule would say more of what to
// write, and cost too much in lists of lists.
const readableDuration = `^(0|[-+]?([0-9]{1,5}([.][0-9]{1,9})?h|[0-9]{1,6}([.][0-9]{1,9})?m|[0-9]{1,8}([.][0-9]{1,9})?s|` +
	`[0-9]{1,11}([.][0-9]{1,9})?ms|[0-9]{1,14}([.][0-9]{1,9})?us|[0-9]{1,17}ns){1,20})$`

// boundValue has the schema of a field admit nothing that the decoder cannot read into its Go
// type: each sync of what could be stored would be refused.
func boundValue(schema map[string]any, t reflect.Type) {
	if schema["type"] != "string" && schema["x-kubernetes-int-or-string"] != true {
		return // any content, or what the type's author made of it
	}
	switch t {
	case reflect.TypeFor[metav1.Duration]():
		if schema["maxLength"] == nil {
			schema["maxLength"] = int64(longestQuantity)
		}
		boundForm(schema, readableDuration)
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[time.Time]():
		boundForm(schema, timeBegin+`(\.[0-9]{1,9})?`+timeEnd)
	case reflect.TypeFor[metav1.MicroTime]():
		boundForm(schema, timeBegin+`\.[0-9]{6}`+timeEnd)
	case reflect.TypeFor[intstr.IntOrString]():
		if schema["x-kubernetes-validations"] == nil { // which may have other limits for a number
			boundRange(schema, math.MinInt32, math.MaxInt32)
		}
	default:
		if t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Anonymous { // a time of one's own, which is read as that
			boundValue(schema, t.Field(0).Type)
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
		refuseBelowZero(schema)
		boundRange(schema, 0, 1<<t.Bits()-1)
	case value.CanUint():
		refuseBelowZero(schema)
		boundRange(schema, 0, most)
	}
}

// refuseBelowZero removes the limit that a number without a sign has by its format, which is that
// of one with a sign.
func refuseBelowZero(schema map[string]any) {
	switch least := schema["minimum"].(type) {
	case int64:
		if least < 0 {
			delete(schema, "minimum")
		}
	case float64:
		if least < 0 {
			delete(schema, "minimum")
		}
	}
}

// boundForeign does both for a type of another module and everything below it, whose fields no
// marker of ours reaches. It comes after what is asked of them, which may have narrower limits.
func boundForeign(schema map[string]any, t reflect.Type) {
	if schema == nil {
		return
	}
	t = pointedTo(t)
	boundValue(schema, t)
	boundInteger(schema, t)
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		boundForeign(member(schema, "items"), t.Elem())
	case reflect.Map:
		boundForeign(member(schema, "additionalProperties"), t.Elem())
	case reflect.Struct:
		fieldsOf(member(schema, "properties"), t, boundForeign)
	default: // has nothing below
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
