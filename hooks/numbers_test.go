package hooks_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/hooks"
)

// TestNumbersFitTheirGoType wants each CRD to admit no number that the Go type of
// its field cannot hold: a custom resource with such a one could not be read.
func TestNumbersFitTheirGoType(t *testing.T) {
	for _, controller := range hooks.All() {
		if !selected(controller.Name()) {
			continue
		}
		t.Run(controller.Name(), func(t *testing.T) {
			n := numbers{T: t}
			n.walk(decodedSchema(t, controller), controller.ParentType(), "")
			require.Positive(t, n.found)
			t.Logf("%d numbers of 32 bits", n.found)
		})
	}
}

// numbers looks at a schema and the Go type beside it.
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
		// A rule says it where a number and a text have different bounds.
		require.True(n, schema["maximum"] != nil || schema["x-kubernetes-validations"] != nil, "%s has no maximum", path)
	case goType.Kind() == reflect.Int32:
		n.found++
		least, hasLeast := schema["minimum"].(float64)
		most, hasMost := schema["maximum"].(float64)
		require.True(n, hasLeast && least >= math.MinInt32, "%s: minimum %v", path, schema["minimum"])
		require.True(n, hasMost && most <= math.MaxInt32, "%s: maximum %v", path, schema["maximum"])
	case goType.Kind() == reflect.Slice && schema["items"] != nil:
		n.walk(schema["items"].(object), goType.Elem(), path+"[]")
	case goType.Kind() == reflect.Map && schema["additionalProperties"] != nil:
		n.walk(schema["additionalProperties"].(object), goType.Elem(), path+"{}")
	case goType.Kind() == reflect.Struct:
		n.fields(schema, goType, path)
	}
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
