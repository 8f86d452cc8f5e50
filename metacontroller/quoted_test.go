package metacontroller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// check checks a child that is alone in its answer.
func check(wire []byte) error { return quotesOf(wire).check(new(quotes)) }

func TestQuotedSize(t *testing.T) {
	for wire, want := range map[string]int{
		`{}`:                              0,
		`{"a":"bc"}`:                      quotedPerWord,
		`{"a":""}`:                        quotedPerText,
		`{"a": 12, "b" : true}`:           2 * quotedPerWord,
		`{"a":{},"b":[ ],"args":[]}`:      2 * quotedPerWord,
		`{"limits":{"hugepages-2Mi":1}}`:  quotedPerHugePages + quotedPerWord,
		`{"os":{"name":"windows"},"a":1}`: 2 * quotedPerWordOfWindows,
		`{"a":-1.5,"b":null}`:             quotedPerWord,
		`{"a":["/x","y"]}`:                quotedPerText + 2*quotedTwice + quotedPerWord,
		`{"a/":1}`:                        quotedPerText + 2*quotedTwice + quotedPerOddKey + quotedPerWord,
		`{"example.com/a":1}`:             quotedPerText + len("example.com/a")*quotedTwice + quotedPerWord,
		"{\"a\":\"\x7f\"}":                quotedPerText + quotedTwice*quotedPerOddByte,
		`{"args":["x",{"y":"z"}],"b":1}`:  quotedPerWord,
		`{"rules":[{"resourceNames":["a","/"],"verbs":["get"]}]}`:                                          quotedPerWord,
		`{"secretKeyRef":{"name":"a","key":"/"},"b":"c"}`:                                                  quotedPerWord,
		`{"env":[{"name":"A","value":"/"},{"name":"=","x":{"a":"b"}}],"a":"b"}`:                            quotedPerText + quotedTwice + 2*quotedPerWord,
		`{"env":[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1k"}}}]}`: quotedPerWord + quotedPerCombination,
		`{"env":[{"name":"A","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}]}`:  quotedPerWord,
		`{"ports":[{"containerPort":80,"hostPort":80,"protocol":"TCP"}]}`:                                  quotedPerWord + quotedPerCombination,
		`{"httpGet":{"path":"/","scheme":"HTTP"},"periodSeconds":10,"timeoutSeconds":2}`:                   quotedPerWord,
		`{"value":"x","a":{"value":["x"],"b":"c"}}`:                                                        quotedPerWord,
		`{"metadata":{"annotations":{"a":"b"},"name":"x:\"y"}}`:                                            quotedPerText + quotedTwice*len(`x:\"y`),
	} {
		require.Equal(t, want, quotesOf([]byte(wire)).size, wire)
	}
}

// TestChildrenOfWhichMuchCouldBeQuoted are refused: Metacontroller keeps what the API server
// quotes of a child that it refuses.
func TestChildrenOfWhichMuchCouldBeQuoted(t *testing.T) {
	pod := func(container string) []byte {
		return []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[` +
			strings.Repeat(container+",", 7) + container + `]}}`)
	}
	var variables, mounts, ports []string
	for i := range 40 {
		variables = append(variables, fmt.Sprintf(`{"name":"VARIABLE_%d","valueFrom":{"secretKeyRef":{"name":"settings","key":"key-%d"}}}`, i, i))
	}
	for i := range 5 {
		mounts = append(mounts, fmt.Sprintf(`{"name":"files-%d","mountPath":"/var/lib/files/%d"}`, i, i))
		ports = append(ports, fmt.Sprintf(`{"name":"port-%d","containerPort":%d,"protocol":"TCP"}`, i, i))
	}
	const probe = `{"httpGet":{"path":"/healthz","port":"http"},"periodSeconds":10,"failureThreshold":3}`
	for name, container := range map[string]string{
		"many ordinary values": `{"name":"a","image":"registry.example.com/team/web:1.2.3","livenessProbe":` + probe + `,"readinessProbe":` + probe +
			`,"env":[` + strings.Join(variables, ",") + `],"volumeMounts":[` + strings.Join(mounts, ",") + `],"ports":[` + strings.Join(ports, ",") + `]}`,
		"scripts": `{"name":"a","command":["sh","-c","` + strings.Repeat("x", 10<<10) + `"]}`,
		"values":  `{"name":"a","env":[{"name":"A","value":"` + strings.Repeat("\x7f", 10<<10) + `"}]}`,
	} {
		require.NoError(t, check(pod(container)), name)
	}
	for i := range 1000 {
		variables = append(variables, fmt.Sprintf(`{"name":"V_%d","value":"%d"}`, i, i))
	}
	require.NoError(t, check([]byte(`{"containers":[{"env":[`+strings.Join(variables, ",")+`]}]}`)), "a thousand variables")
	windows := `{"os":{"name":"windows"},"containers":[` + strings.Repeat(`{"name":"a","securityContext":{"privileged":true,"capabilities":{}}},`, 100) + `{}]}`
	require.ErrorContains(t, check([]byte(windows)), "write fewer or shorter ones")
	require.NoError(t, check([]byte(strings.Replace(windows, "windows", "linux", 1))))
	for name, container := range map[string]string{
		"paths":         `{"name":"a","volumeDevices":[{"name":"d","devicePath":"../` + strings.Repeat("\x7f", 600) + `"}]}`,
		"short values":  `{"name":"a","x":["/"` + strings.Repeat(`,"/"`, 40) + `]}`,
		"short words":   `{"name":"a","x":["a"` + strings.Repeat(`,"a"`, 130) + `]}`,
		"Booleans":      `{"name":"a","x":[true` + strings.Repeat(`,true`, 130) + `]}`,
		"empty objects": `{"name":"a","x":[{}` + strings.Repeat(`,{}`, 130) + `]}`,
		"huge pages":    `{"name":"a","resources":{"limits":{"hugepages-1Mi":"1"` + strings.Repeat(`,"hugepages-02Mi":"1"`, 16) + `}}}`,
		"short numbers": `{"name":"a","x":[1` + strings.Repeat(`,1`, 130) + `]}`,
	} {
		require.ErrorContains(t, check(pod(container)), "write fewer or shorter ones", name)
	}
}

// TestOddKeysAreCounted counts keys that the API server refuses where they are.
func TestOddKeysAreCounted(t *testing.T) {
	for wire, want := range map[string]int{
		`{"data":{"a/":"","_settings.py":"",".env":"","b:":"c"}}`:                 2,
		`{"metadata":{"annotations":{"Example.com/a":"","_":"{\"/\":1}"}}}`:       1,
		`{"metadata":{"labels":{"Example.com/a":"","a":"","example.com/b":"/"}}}`: 1,
		`{"csi":{"volumeAttributes":{"a:b":"c"}},"a:b":1}`:                        1,
		`{"limits":{"hugepages-00000000002Mi":1,"hugepages-2Mi":1}}`:              1,
		`{"data":{"a":{"_":1}},"args":[{"_":1}]}`:                                 2,
	} {
		q := quotesOf([]byte(wire))
		require.Equal(t, want, q.odd, wire)
		require.GreaterOrEqual(t, q.size, quotedPerOddKey, wire)
	}
}

// TestOddKeysOfAllChildrenCount together: what the API server says of the children of one
// custom resource is one message.
func TestOddKeysOfAllChildrenCount(t *testing.T) {
	var others quotes
	odd, ordinary := quotesOf([]byte(`{"labels":{"_":"a"}}`)), quotesOf([]byte(`{"labels":{"a":"a"}}`))
	for range oddKeys {
		require.NoError(t, odd.check(&others))
	}
	require.NoError(t, ordinary.check(&others))
	require.ErrorContains(t, odd.check(&others), `the key "_" and 2 others do not begin`)
	require.ErrorContains(t, check([]byte(`{"`+strings.Repeat("_", oddKeysBytes+1)+`":1}`)), "longer than 63 characters")
}
