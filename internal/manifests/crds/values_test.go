package crds

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/crd"
)

// stamp is a time of an author's own.
type stamp struct{ metav1.Time }

// TestWhatIsAdmittedCanBeRead: the decoder reads into its Go type each value that the schema of a
// field admits, and the schema admits what people write.
func TestWhatIsAdmittedCanBeRead(t *testing.T) {
	text := map[string]any{"type": "string"}
	date := map[string]any{"type": "string", "format": "date-time"}
	number := map[string]any{"type": "integer"}
	long := map[string]any{"type": "integer", "format": "int64"}
	either := map[string]any{"x-kubernetes-int-or-string": true, "anyOf": []any{map[string]any{"type": "integer"}, map[string]any{"type": "string"}}}
	amount := []string{"0", "1", "59", "1.5", ".5", "2.", "99999", "2562047", "99999999", "0000001", "12345678901", "0.1234567890", ""}
	unit := []string{"h", "m", "s", "ms", "us", "µs", "ns", "d", "H", ""}
	durations := [][]string{{"", "-", "+", " "}, amount, unit, append(amount, "", "", ""), append(unit, "", "", ""), append(amount, "", "", ""), append(unit, "", "", "")}
	times := [][]string{
		{"2026-01-02", "2026-01-32", "2026-02-29", "2024-02-29", "2024-2-29", "0000-01-01", "9999-12-31", "2026-13-01"},
		{"T", "T", "T", "t", " ", ""}, {"00:00:00", "23:59:59", "24:00:00", "23:60:00", "23:59:60", "12:00", "1:02:03"},
		{"", "", ".1", ".123456", ".123456789", ".1234567890", ".", ",5"}, {"Z", "Z", "z", "+01:00", "-23:59", "+24:00", "-01:60", "-0100", ""},
	}
	numbers := []string{
		"0", "-0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "32767", "32768", "65535", "65536", "2147483647", "2147483648", "-2147483649", "4294967295", "4294967296",
		"9223372036854774784", "9223372036854775000", "9223372036854775295", "9223372036854775296", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1e3", "1.0", "1e19", "1e300",
	}
	for _, test := range []struct {
		goType reflect.Type
		schema map[string]any
		parts  [][]string // of texts, one of each
		good   []string   // in JSON
		bad    []string
	}{
		{reflect.TypeFor[metav1.Duration](), text, durations, []string{`"90s"`, `"1h30m"`, `"1.5h"`, `"0"`, `"0s"`, `"-1m"`, `"250ms"`, `"87600h"`, `"100us"`}, []string{`""`, `"1d"`, `"1"`, `"3000000h"`, `" 1s"`}},
		{
			reflect.TypeFor[metav1.Time](), date, times, []string{`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.123+01:00"`, `"2024-02-29T00:00:00-08:00"`},
			[]string{`""`, `"2026-01-02"`, `"2026-01-02t03:04:05z"`, `"2026-02-29T00:00:00Z"`, `"2026-01-02T24:00:00Z"`, `"2026-01-02T03:04:60Z"`},
		},
		{reflect.TypeFor[time.Time](), date, times, []string{`"2026-01-02T03:04:05Z"`}, []string{`"2026-01-02t03:04:05z"`}},
		{reflect.TypeFor[stamp](), date, times, []string{`"2026-01-02T03:04:05Z"`}, []string{`"2026-01-02t03:04:05z"`}},
		{reflect.TypeFor[metav1.MicroTime](), date, times, []string{`"2026-01-02T03:04:05.123456Z"`}, []string{`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.123Z"`}},
		{reflect.TypeFor[intstr.IntOrString](), either, nil, []string{`1`, `"1"`, `"25%"`, `-1`}, []string{`2147483648`}},
		{reflect.TypeFor[int8](), number, nil, []string{`-128`, `127`}, []string{`128`}},
		{reflect.TypeFor[uint8](), number, nil, []string{`0`, `255`}, []string{`-1`, `256`}},
		{reflect.TypeFor[int16](), number, nil, []string{`-32768`}, []string{`32768`}},
		{reflect.TypeFor[uint16](), number, nil, []string{`65535`}, []string{`65536`}},
		{reflect.TypeFor[int32](), number, nil, []string{`2147483647`}, []string{`2147483648`}},
		{reflect.TypeFor[uint32](), number, nil, []string{`4294967295`}, []string{`4294967296`, `-1`}},
		{reflect.TypeFor[int](), long, nil, []string{`0`, `-9007199254740993`}, []string{`1e19`}},
		{reflect.TypeFor[int64](), long, nil, []string{`9223372036854774784`}, []string{`9223372036854775808`, `1e19`}},
		{reflect.TypeFor[uint64](), long, nil, []string{`9223372036854774784`}, []string{`-1`, `18446744073709551616`}},
	} {
		t.Run(test.goType.String(), func(t *testing.T) {
			field, err := json.Marshal(test.schema)
			require.NoError(t, err)
			bounded := map[string]any{}
			require.NoError(t, json.Unmarshal(field, &bounded))
			boundValue(bounded, test.goType)
			boundInteger(bounded, test.goType)
			schema := schemaOfField(t, bounded)
			admits := func(value string) bool {
				object := map[string]any{}
				require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(`{"apiVersion":"example.com/v1","kind":"Example","metadata":{"name":"a"},"spec":{"field":`+value+`}}`), &object), value)
				_, errs := schema.Admit(t.Context(), object, nil)
				if len(errs) > 0 {
					return false
				}
				stored, err := json.Marshal(object["spec"].(map[string]any)["field"])
				require.NoError(t, err)
				require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(stored, reflect.New(test.goType).Interface()), "%s is stored as %s", value, stored)
				return true
			}
			for _, value := range test.good {
				require.True(t, admits(value), value)
			}
			for _, value := range test.bad {
				require.False(t, admits(value), value)
			}
			if test.parts == nil {
				for _, value := range numbers {
					admits(value)
				}
				return
			}
			admitted, random := 0, rand.New(rand.NewPCG(1, 2)) //nolint:gosec // for a test
			repetitions := 5_000
			if testing.Short() {
				repetitions /= 5
			}
			for range repetitions {
				var value strings.Builder
				for _, part := range test.parts {
					value.WriteString(part[random.IntN(len(part))])
				}
				if admits(fmt.Sprintf("%q", value.String())) {
					admitted++
				}
			}
			require.Greater(t, admitted, repetitions/500)
		})
	}
	require.Less(t, 20*99_999.9999999*float64(time.Hour), float64(1<<63)) // the longest duration
}

// TestWhatIsAdmittedOfAKubernetesTypeCanBeRead: no marker of an author reaches its fields.
func TestWhatIsAdmittedOfAKubernetesTypeCanBeRead(t *testing.T) {
	type ports struct {
		Ports  []corev1.ServicePort `json:"ports"`
		Taints []corev1.Taint       `json:"taints"`
	}
	type object struct {
		Spec ports `json:"spec"`
	}
	schema := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(`
properties:
  spec:
    properties:
      ports: {items: {properties: {port: {type: integer}, targetPort: {x-kubernetes-int-or-string: true}}}}
      taints: {items: {properties: {timeAdded: {type: string, format: date-time}}}}
`), &schema))
	c := cutter{module: ours}
	c.walk(schema, reflect.TypeFor[object](), "")
	at := func(path ...string) map[string]any {
		inner := schema
		for _, name := range path {
			inner = member(inner, name)
			require.NotNil(t, inner, "%v", path)
		}
		return inner
	}
	port := at("properties", "spec", "properties", "ports", "items", "properties", "port")
	require.Equal(t, int64(1<<31-1), port["maximum"])
	target := at("properties", "spec", "properties", "ports", "items", "properties", "targetPort")
	require.Equal(t, int64(1<<31-1), target["maximum"])
	added := at("properties", "spec", "properties", "taints", "items", "properties", "timeAdded")
	require.NotEmpty(t, added["pattern"])
}

// TestANumberWithoutASignHasNoLimitOfOneWithASign: controller-gen gives uint32 the format int32.
func TestANumberWithoutASignHasNoLimitOfOneWithASign(t *testing.T) {
	for format, number := range map[string]reflect.Type{"int32": reflect.TypeFor[uint32](), "int64": reflect.TypeFor[uint64]()} {
		schema := map[string]any{"properties": map[string]any{"field": map[string]any{"type": "integer", "format": format}}}
		boundNumbers(schema)
		field := member(member(schema, "properties"), "field")
		boundInteger(field, number)
		require.Equal(t, int64(0), field["minimum"], format)
	}
	written := map[string]any{"type": "integer", "minimum": float64(5)}
	boundInteger(written, reflect.TypeFor[uint32]())
	require.EqualValues(t, 5, written["minimum"])
}

// TestANumberThatIsWrittenAsATextHasNoRange: its type has a decoder of its own.
func TestANumberThatIsWrittenAsATextHasNoRange(t *testing.T) {
	schema := map[string]any{"type": "string"}
	boundInteger(schema, reflect.TypeFor[time.Month]())
	require.Equal(t, map[string]any{"type": "string"}, schema)
}

func schemaOfField(t *testing.T, field map[string]any) *crd.Schema {
	schema, err := crd.Load(definitionOfField(t, field), "v1")
	require.NoError(t, err)
	return schema
}

// definitionOfField returns the CRD of a kind whose spec has one field.
func definitionOfField(t *testing.T, field map[string]any) []byte {
	properties := map[string]any{"spec": map[string]any{"type": "object", "properties": map[string]any{"field": field}}}
	version := map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": properties}}}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "examples.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"plural": "examples", "kind": "Example"}, "versions": []any{version},
		},
	})
	require.NoError(t, err)
	return text
}
