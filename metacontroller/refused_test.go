package metacontroller

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestSurelyRefusedUpdates(t *testing.T) {
	const desired = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b","c":"d"}}}}`
	foreign := strings.Replace(desired, `"spec":{`, `"spec":{"x":"`+strings.Repeat("x", 300<<10)+`",`, 1)
	mounts := func(n int) string {
		return strings.Replace(desired, `"spec":{`, `"spec":{"volumeMounts":[`+strings.Repeat(`{"mountPath":"/v/0","name":"v"},`, n)+`{}],`, 1)
	}
	for name, c := range map[string]struct {
		observed, desired string
		want              bool
	}{
		"some mounts that others have added":  {mounts(80), desired, false},
		"many mounts that others have added":  {mounts(160), desired, true},
		"as many of which some are asked for": {mounts(160), mounts(80), false},
		"the same":                            {desired, desired, false},
		"another order":                       {strings.Replace(desired, `"a":"b","c":"d"`, `"c":"d", "a":"b"`, 1), desired, false},
		"more replicas":                       {strings.Replace(desired, `"spec":{`, `"spec":{"replicas":3,`, 1), desired, false},
		"another selector":                    {strings.Replace(desired, `{"matchLabels"`, `{"matchExpressions":[{"key":"x","operator":"Exists"}],"matchLabels"`, 1), desired, true},
		"one label less":                      {strings.Replace(desired, `,"c":"d"`, ``, 1), desired, true},
		"the selector of a Service":           {`{"apiVersion":"v1","spec":{"selector":{"a":"x"}}}`, `{"apiVersion":"v1","spec":{"selector":{"a":"b"}}}`, false},
		"much that others have added":         {foreign, desired, true},
		"as much that is asked for":           {foreign, foreign, false},
	} {
		require.Equal(t, c.want, isSurelyRefused([]byte(c.observed), []byte(c.desired)), name)
	}
}

// TestSelectorsOfWorkloads: a typed and an unstructured workload have the same, and a Service
// has none that cannot be changed.
func TestSelectorsOfWorkloads(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	service := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service", "spec": map[string]any{"selector": map[string]any{"a": "b"}}}}
	for _, test := range []struct {
		object Object
		want   string
	}{
		{&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: selector}}, `{"matchLabels":{"a":"b"}}`},
		{&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}},
		}}, `{"matchLabels":{"a":"b"}}`},
		{&unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet"}}, ""},
		{service, ""},
		{&corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"a": "b"}}}, ""},
	} {
		found, err := selectorOf(test.object)
		require.NoError(t, err)
		require.Equal(t, test.want, string(found))
	}
}

// TestDefaultsAreNotWhatOthersHaveAdded: an API server writes them into each container.
func TestDefaultsAreNotWhatOthersHaveAdded(t *testing.T) {
	probe := func(asked, defaults string) string {
		return `{"httpGet":{"port":80` + asked + `}` + defaults + `}`
	}
	deployment := func(handler, defaults, container string) []byte {
		fields := []string{`"name":"sidecar","image":"a"` + container}
		for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
			fields = append(fields, `"`+name+`":`+probe(handler, defaults))
		}
		fields = append(fields, `"lifecycle":{"preStop":`+probe(handler, "")+`,"postStart":`+probe(handler, "")+`}`)
		containers := strings.TrimSuffix(strings.Repeat("{"+strings.Join(fields, ",")+"},", 40), ",")
		return []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"template":{"spec":{"containers":[` + containers + `]}}}}`)
	}
	desired := deployment("", "", "")
	defaulted := deployment(`,"path":"/","scheme":"HTTP"`, `,"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3`,
		`,"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"Always"`)
	require.False(t, isTooLargeToUpdate(defaulted, desired))
	others := deployment(`,"path":"/a","scheme":"HTTPS"`, `,"timeoutSeconds":2,"periodSeconds":11,"successThreshold":2,"failureThreshold":4`, "")
	require.True(t, isTooLargeToUpdate(others, desired))
}

// TestSourcesThatOthersGiveToVariables: an update would give them a value, too, and be refused
// with a sentence about each.
func TestSourcesThatOthersGiveToVariables(t *testing.T) {
	deployment := func(variable string, n int) []byte {
		return []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"template":{"spec":{"containers":[{"name":"a","env":[` +
			strings.TrimSuffix(strings.Repeat(variable+",", n), ",") + `]}]}}}}`)
	}
	const value, source = `{"name":"A","value":"a"}`, `{"name":"A","valueFrom":{"secretKeyRef":{"name":"a","key":"b"}}}`
	require.True(t, isTooLargeToUpdate(deployment(source, 1000), deployment(value, 1000)))
	require.True(t, mayBeTooLarge(deployment(source, 1000)))
	require.False(t, isTooLargeToUpdate(deployment(source, 1000), deployment(source, 1000)), "as they are asked for")
	require.False(t, isTooLargeToUpdate(deployment(source, 100), deployment(value, 100)))
}
