package metacontroller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuotedSize(t *testing.T) {
	for wire, want := range map[string]int{
		`{}`:                             0,
		`{"a":"bc"}`:                     quotedPerValue + 2,
		`{"a": 12, "b" : true}`:          2*quotedPerValue + 2 + 4,
		`{"a":["x","y"]}`:                2 * (quotedPerValue + 1),
		`{"a/":1}`:                       2 + quotedPerValue + 1,
		"{\"a\":\"\x7f\"}":               quotedPerValue + quotedPerOddByte,
		`{"args":["x",{"y":"z"}],"b":1}`: quotedPerValue + 1,
		`{"value":"x","a":{"value":["x"],"b":"c"}}`:             quotedPerValue + 1,
		`{"metadata":{"annotations":{"a":"b"},"name":"x:\"y"}}`: quotedPerValue + len(`x:\"y`),
	} {
		require.Equal(t, want, quotedSize([]byte(wire)), wire)
	}
}

// TestChildrenOfWhichMuchCouldBeQuoted are refused: Metacontroller keeps what the API server
// quotes of a child that it refuses.
func TestChildrenOfWhichMuchCouldBeQuoted(t *testing.T) {
	pod := func(container string) []byte {
		return []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[` +
			strings.Repeat(container+",", 49) + container + `]}}`)
	}
	var variables []string
	for i := range 20 {
		variables = append(variables, fmt.Sprintf(`{"name":"VARIABLE_%d","valueFrom":{"secretKeyRef":{"name":"settings","key":"key-%d"}}}`, i, i))
	}
	for name, container := range map[string]string{
		"variables": `{"name":"a","image":"registry.example.com/web:1.2.3","env":[` + strings.Join(variables, ",") + `]}`,
		"scripts":   `{"name":"a","command":["sh","-c","` + strings.Repeat("x", 10<<10) + `"]}`,
		"values":    `{"name":"a","env":[{"name":"A","value":"` + strings.Repeat("\x7f", 10<<10) + `"}]}`,
	} {
		require.NoError(t, checkQuoted(pod(container)), name)
	}
	for name, container := range map[string]string{
		"paths":         `{"name":"a","volumeDevices":[{"name":"d","devicePath":"../` + strings.Repeat("\x7f", 1400) + `"}]}`,
		"short values":  `{"name":"a","x":["a"` + strings.Repeat(`,"a"`, 100) + `]}`,
		"short numbers": `{"name":"a","x":[1` + strings.Repeat(`,1`, 100) + `]}`,
	} {
		require.ErrorContains(t, checkQuoted(pod(container)), "write fewer or shorter ones", name)
	}
}
