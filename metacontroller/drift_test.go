package metacontroller

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/processor"
)

func TestDrift(t *testing.T) {
	const wanted = `{"metadata":{"labels":{"a":"b"}},"spec":{"replicas":2,"strategy":{"type":"Recreate"},"template":{"spec":{"containers":[` +
		`{"name":"web","image":"nginx:1","env":[{"name":"A","value":"a<b"},{"name":"B","value":"$(A)"}],"probe":{"httpGet":{"port":80}},"args":["x","y"]}],` +
		`"initContainers":[{"name":"i"},{"name":"j"}],"volumes":[{"name":"v","emptyDir":{}},{"name":"w","configMap":{"name":"c"}}]}}},` +
		`"data":{"k":"v"},"none":null,"list":[{"x":1.0}],"empty":[]}`
	for name, c := range map[string]struct{ old, new, want string }{
		"the same":                   {"", "", ""},
		"a field that others added":  {`"replicas":2`, `"x":{"y":1},"replicas":2`, ""},
		"an entry that others added": {`[{"name":"web"`, `[{"name":"sidecar"},{"name":"web"`, ""},
		"another order of volumes":   {`{"name":"v","emptyDir":{}},{"name":"w","configMap":{"name":"c"}}`, `{"name":"w","configMap":{"name":"c"}},{"name":"v","emptyDir":{}}`, ""},
		"escaped otherwise":          {`a<b`, `a\u003cb`, ""},
		"a key escaped otherwise":    {`"name":"web"`, `"name":"\u0077eb"`, ""},
		"keys escaped otherwise, in another order": {
			`{"name":"v","emptyDir":{}},{"name":"w","configMap":{"name":"c"}}`, `{"name":"\u0077","configMap":{"name":"c"}},{"name":"\u0076","emptyDir":{}}`, "",
		},
		"keys escaped otherwise, one repeated": {
			`{"name":"B","value":"$(A)"}`, `{"name":"\u0042","value":"$(A)"},{"name":"\u0041","value":"evil"}`, "spec.template.spec.containers[0].env[0], which is there more than once",
		},
		"a number as text is longer": {`1.0`, `1`, ""},
		"a field that is missing":    {`"strategy":{"type":"Recreate"},`, ``, ""},
		"volumes that are missing":   {`,"volumes":[{"name":"v","emptyDir":{}},{"name":"w","configMap":{"name":"c"}}]`, ``, "spec.template.spec.volumes"},
		"null and something":         {`"none":null`, `"none":1`, ""},
		"a value":                    {`nginx:1`, `evil:1`, "spec.template.spec.containers[0].image"},
		"a number":                   {`"replicas":2`, `"replicas":3`, "spec.replicas"},
		"a type":                     {`"replicas":2`, `"replicas":"2"`, "spec.replicas"},
		"a union in an entry":        {`{"httpGet":{"port":80}}`, `{"exec":{}}`, "spec.template.spec.containers[0].probe.httpGet"},
		"a volume":                   {`"emptyDir":{}`, `"secret":{}`, "spec.template.spec.volumes[0].emptyDir"},
		"an entry that is missing":   {`,{"name":"w","configMap":{"name":"c"}}`, ``, "spec.template.spec.volumes[1]"},
		"a key of data":              {`"data":{"k":"v"}`, `"data":{"l":"v"}`, "data.k"},
		"a list without names":       {`["x","y"]`, `["y","x"]`, "spec.template.spec.containers[0].args[0]"},
		"a longer list":              {`["x","y"]`, `["x","y","z"]`, "spec.template.spec.containers[0].args"},
		"something in an empty list": {`"empty":[]`, `"empty":[1]`, "empty"},
		"another order of variables": {
			`{"name":"A","value":"a<b"},{"name":"B","value":"$(A)"}`, `{"name":"B","value":"$(A)"},{"name":"A","value":"a<b"}`,
			"spec.template.spec.containers[0].env, whose entries are in another order",
		},
		"a variable that others have repeated": {
			`{"name":"B","value":"$(A)"}`, `{"name":"B","value":"$(A)"},{"name":"A","value":"evil"}`, "spec.template.spec.containers[0].env[0], which is there more than once",
		},
		"another order of init containers": {`{"name":"i"},{"name":"j"}`, `{"name":"j"},{"name":"i"}`, "spec.template.spec.initContainers, whose entries are in another order"},
	} {
		require.Contains(t, wanted, c.old, name)
		require.Equal(t, c.want, drift([]byte(strings.Replace(wanted, c.old, c.new, 1)), []byte(wanted)), name)
	}
}

// TestDriftOfWhatIsRemoved: a Service without a selector has no endpoints, and a StatefulSet
// without its claims no volumes.
func TestDriftOfWhatIsRemoved(t *testing.T) {
	set := `{"kind":"StatefulSet","spec":{"template":{},"volumeClaimTemplates":[{"metadata":{"name":"data"}}]}}`
	require.Equal(t, "spec.volumeClaimTemplates", drift([]byte(`{"kind":"StatefulSet","spec":{"template":{}}}`), []byte(set)))
	require.Empty(t, drift([]byte(`{"kind":"StatefulSet","spec":{"template":{}}}`), []byte(`{"kind":"StatefulSet","spec":{"template":{},"volumeClaimTemplates":[]}}`)))
	service := `{"kind":"Service","spec":{"sessionAffinity":"None","selector":{"a":"b"}}}`
	require.Empty(t, drift([]byte(service), []byte(service)))
	require.Equal(t, "spec.selector", drift([]byte(`{"kind":"Service","spec":{"sessionAffinity":"None"}}`), []byte(service)))
}

// TestDriftFarDownTakesLittle: no kind of Kubernetes has so many levels, but an author's may.
func TestDriftFarDownTakesLittle(t *testing.T) {
	of := func(levels int, value string) []byte {
		return []byte(strings.Repeat(`{"`+strings.Repeat("k", 140)+`":`, levels) + `"` + value + `"` + strings.Repeat("}", levels))
	}
	var path string
	took, err := processor.Time(func() { path = drift(of(9_000, "a"), of(9_000, "b")) })
	require.NoError(t, err)
	require.Empty(t, path)
	require.Less(t, took, 5*time.Second) // 25 s where each level is gone through
	require.NotEmpty(t, drift(of(40, "a"), of(40, "b")))
}
