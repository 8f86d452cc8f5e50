package apiserver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestApply applies a list or an object in a spec, lets somebody else write another
// one, and applies a third.
func TestApply(t *testing.T) {
	const (
		service = `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: default}, spec: {clusterIP: 10.96.1.1, %s}}`
		custom  = `{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: default}, spec: {%s}}`
	)
	for _, c := range []struct{ name, object, field, first, theirs, then, want string }{
		{
			"a field that is not applied any more goes with all that is in it", service,
			"selector", `ports: [{port: 1}], selector: {a: b}`, ``, `ports: [{port: 1}]`, `null`,
		},
		{
			"members of others stay, and those that are not applied any more go", custom,
			"map", `map: {mine: a, more: b}`, `map: {theirs: b}`, `map: {mine: c}`, `{mine: c, theirs: b}`,
		},
		{
			"a selector is one field", service,
			"selector", `ports: [{port: 1}], selector: {mine: a}`, `selector: {theirs: b}`, `ports: [{port: 1}], selector: {mine: c}`,
			`{mine: c}`,
		},
		{
			"an item that is not applied any more goes, also one of two with another protocol", service,
			"ports", `ports: [{port: 53, name: a}, {port: 53, name: b, protocol: UDP}]`, ``, `ports: [{port: 53, name: dns}]`,
			`[{name: dns, port: 53, protocol: TCP, targetPort: 53}]`,
		},
		{
			"an item of somebody else stays", service,
			"ports", `ports: [{port: 1, name: a}]`, `ports: [{port: 2, name: b}, {port: 1, name: a}]`, `ports: [{port: 3, name: c}, {port: 1, name: d}]`,
			`[{name: b, port: 2, protocol: TCP, targetPort: 2}, {name: c, port: 3, protocol: TCP, targetPort: 3}, {name: d, port: 1, protocol: TCP, targetPort: 1}]`,
		},
		{
			"a list without keys is one field", service,
			"externalIPs", `ports: [{port: 1}], externalIPs: [192.0.2.1]`, `externalIPs: [192.0.2.2]`, `ports: [{port: 1}], externalIPs: [192.0.2.3]`,
			`[192.0.2.3]`,
		},
		{
			"the items of a custom resource have no keys", custom,
			"list", `list: [{name: a}]`, `list: [{name: a}, {name: b}]`, `list: [{name: c}]`, `[{name: c}]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := emptyServer()
			first := &unstructured.Unstructured{Object: parse(t, fmt.Sprintf(c.object, c.first))}
			_, err := s.Apply(&Configuration{Object: first})
			require.NoError(t, err)
			theirs, err := yaml.YAMLToJSON([]byte("{spec: {" + c.theirs + "}}"))
			require.NoError(t, err)
			require.NoError(t, s.Patch(ByUser, kube.RefOf(first), theirs))
			stored, err := s.Apply(&Configuration{Object: &unstructured.Unstructured{Object: parse(t, fmt.Sprintf(c.object, c.then))}})
			require.NoError(t, err)
			want, err := yaml.YAMLToJSON([]byte(c.want))
			require.NoError(t, err)
			require.JSONEq(t, string(want), text(t, stored, "spec", c.field))
		})
	}
}

// TestManagedFieldsOfAnApply compares with what the API server writes for such an apply.
func TestManagedFieldsOfAnApply(t *testing.T) {
	s := emptyServer()
	first := &unstructured.Unstructured{Object: deployment("nginx:1", int64(4))}
	first.SetNamespace("default")
	stored, err := s.Apply(&Configuration{Object: first})
	require.NoError(t, err)
	want := parse(t, `{apiVersion: apps/v1, fieldsType: FieldsV1, manager: metacontroller, operation: Apply, fieldsV1: {
		"f:spec": {"f:replicas": {}, "f:selector": {}, "f:template": {"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {
			"f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}}}}}}}}`)
	require.Equal(t, []any{want}, stored.Object["metadata"].(map[string]any)["managedFields"])
}

// TestAnApplyIsOneWrite: nobody sees an object without the managedFields of its version.
func TestAnApplyIsOneWrite(t *testing.T) {
	s := emptyServer()
	var seen []string
	s.Watch(func(w Write) { seen = append(seen, text(t, w.After, "metadata", "managedFields")) })
	for i, image := range []string{"nginx:1", "nginx:2"} {
		config := &unstructured.Unstructured{Object: deployment(image, []any{int64(4), nil}[i])}
		config.SetNamespace("default")
		stored, err := s.Apply(&Configuration{Object: config})
		require.NoError(t, err)
		require.Len(t, seen, i+1)
		require.Equal(t, text(t, stored, "metadata", "managedFields"), seen[i])
		require.Equal(t, i == 0, strings.Contains(seen[i], "f:replicas"))
	}
}

// TestDuplicatesAreNotApplied: a create stores them, and a server-side apply is refused.
func TestDuplicatesAreNotApplied(t *testing.T) {
	object := func(metadata string) kube.Object {
		return &unstructured.Unstructured{Object: parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default`+metadata+`}}`)}
	}
	s := emptyServer()
	_, err := s.Apply(&Configuration{Object: object(`, finalizers: [x/y, x/y]`)})
	require.EqualError(t, err, `failed to create typed patch object (default/a; /v1, Kind=ConfigMap): .metadata.finalizers: duplicate entries for key [="x/y"]`)
	_, err = s.Create(ByHook, object(`, finalizers: [x/y, x/y]`))
	require.NoError(t, err)
	_, err = s.Apply(&Configuration{Object: object(`, labels: {a: b}`)})
	require.NoError(t, err)
	_, err = s.Apply(&Configuration{Object: object(`, finalizers: [x/y, x/y]`)})
	require.ErrorContains(t, err, "duplicate entries")
}
