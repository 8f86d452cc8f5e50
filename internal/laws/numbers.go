package laws

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/metacontroller"
)

// object is a JSON object: a value, or a schema.
type object = map[string]any

// DecodedSchema returns the schema of the version of an operator's CRD that its hooks
// read.
func DecodedSchema(t testing.TB, controller metacontroller.Controller) map[string]any {
	written, err := crd.Written(controller.CRD, controller.Parent.Version())
	require.NoError(t, err)
	return written
}

// NumbersFit requires that a CRD admits no number that the Go type of its field
// cannot hold, no quantity that is longer than a sync hook admits, and no text as a time or
// duration that is none: a custom resource with one could not be decoded. It returns the
// number of such fields.
func NumbersFit(t *testing.T, controller metacontroller.Controller) int {
	n := numbers{T: t}
	n.walk(DecodedSchema(t, controller), controller.ParentType(), "")
	return n.found
}

// longestQuantity is what a sync hook admits, in characters.
const longestQuantity = 64

// numbers walks a schema together with its Go type.
type numbers struct {
	*testing.T

	found int
}

func (n *numbers) walk(schema object, goType reflect.Type, path string) {
	for goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	switch {
	case schema == nil, strings.HasSuffix(path, ".ephemeralContainers"): // of which no CRD admits any
	case goType == reflect.TypeFor[intstr.IntOrString]():
		n.found++
		// A rule may state it, if a number and a text have different limits.
		require.True(n, schema["maximum"] != nil || schema["x-kubernetes-validations"] != nil, "%s has no maximum", path)
	case goType == reflect.TypeFor[metav1.Duration](), goType == reflect.TypeFor[metav1.Time](), goType == reflect.TypeFor[metav1.MicroTime]():
		if !strings.HasPrefix(path, ".spec.") {
			return // what the hook has written can be read
		}
		n.found++
		assert.True(n, schema["pattern"] != nil || schema["x-kubernetes-validations"] != nil, "%s admits texts that cannot be read: operetta generate bounds them", path)
	case goType == reflect.TypeFor[resource.Quantity]():
		n.found++
		longest, hasLongest := schema["maxLength"].(float64)
		require.True(n, hasLongest && longest <= longestQuantity, "%s: maxLength %v", path, schema["maxLength"])
	case schema["type"] == "integer" && reflect.Zero(goType).CanInt():
		n.found++
		n.between(schema, path, -math.Ldexp(1, goType.Bits()-1), math.Ldexp(1, goType.Bits()-1))
	case schema["type"] == "integer" && reflect.Zero(goType).CanUint():
		n.found++
		n.between(schema, path, 0, math.Ldexp(1, goType.Bits()))
	case goType.Kind() == reflect.Slice && schema["items"] != nil:
		n.walk(schema["items"].(object), goType.Elem(), path+"[]")
	case goType.Kind() == reflect.Map && schema["additionalProperties"] != nil:
		n.walk(schema["additionalProperties"].(object), goType.Elem(), path+"{}")
	case goType.Kind() == reflect.Struct:
		n.fields(schema, goType, path)
	}
}

// between requires that a schema admits integers from least, and up to most alone.
func (n *numbers) between(schema object, path string, least, most float64) {
	low, hasLow := schema["minimum"].(float64)
	high, hasHigh := schema["maximum"].(float64)
	assert.True(n, hasLow && low >= least, "%s: minimum %v", path, schema["minimum"])
	assert.True(n, hasHigh && high < most, "%s: maximum %v", path, schema["maximum"])
}

func (n *numbers) fields(schema object, goType reflect.Type, path string) {
	properties, _ := schema["properties"].(object)
	for i := range goType.NumField() {
		field := goType.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && field.Anonymous {
			n.walk(schema, field.Type, path)
			continue
		}
		inner, _ := properties[name].(object)
		n.walk(inner, field.Type, path+"."+name)
	}
}
