package apiserver

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func emptyServer() *Server {
	return New(Options{Kinds: NewCatalogue(nil), Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }})
}

func configMap(value string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}, "data": map[string]any{"key": value},
	}
}

// deployment returns a Deployment; replicas may be nil.
func deployment(image string, replicas any) map[string]any {
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"a": "b"}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"a": "b"}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": image}}},
		},
	}
	if replicas != nil {
		spec["replicas"] = replicas
	}
	return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"}, "spec": spec}
}

// text returns an object's field as JSON, and "null" for none.
func text(t testing.TB, object kube.Object, path ...string) string {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	require.NoError(t, err)
	encoded, err := json.Marshal(value)
	require.NoError(t, err)
	return string(encoded)
}

// put creates or updates an object in a server.
func put(t testing.TB, s *Server, content map[string]any) (kube.Object, error) {
	t.Helper()
	object := &unstructured.Unstructured{Object: content}
	if object.GetNamespace() == "" {
		object.SetNamespace("default")
	}
	if s.Get(kube.RefOf(object)) != nil {
		return s.Update(ByUser, object)
	}
	return s.Create(ByUser, object)
}

func TestGenerationCountsChangesOfTheSpec(t *testing.T) {
	s := emptyServer()
	d, err := put(t, s, deployment("nginx:1", nil))
	require.NoError(t, err)
	require.EqualValues(t, 1, d.GetGeneration())
	version := d.GetResourceVersion()

	d, err = put(t, s, deployment("nginx:1", nil))
	require.NoError(t, err)
	require.Equal(t, version, d.GetResourceVersion(), "a write of what is there already is no change")

	d, err = s.UpdateStatus(ByKubernetes, kube.RefOf(d), map[string]any{"replicas": int64(1)})
	require.NoError(t, err)
	require.EqualValues(t, 1, d.GetGeneration())
	require.NotEqual(t, version, d.GetResourceVersion())

	d, err = put(t, s, deployment("nginx:2", nil))
	require.NoError(t, err)
	require.EqualValues(t, 2, d.GetGeneration())
	require.Equal(t, "1", text(t, d, "status", "replicas"), "an update keeps the status")

	c, err := put(t, s, configMap("1"))
	require.NoError(t, err)
	require.Zero(t, c.GetGeneration(), "a ConfigMap counts nothing")
}

func TestUpdateOfAnOlderVersionIsAConflict(t *testing.T) {
	s := emptyServer()
	old, err := put(t, s, configMap("1"))
	require.NoError(t, err)
	_, err = put(t, s, configMap("2"))
	require.NoError(t, err)
	_, err = s.Update(ByUser, old)
	require.True(t, apierrors.IsConflict(err), err)
	_, err = s.Create(ByUser, old)
	require.True(t, apierrors.IsAlreadyExists(err), err)
}

func TestDeletionWaitsForFinalizersAndForRunningPods(t *testing.T) {
	s := emptyServer()
	held := configMap("1")
	held["metadata"].(map[string]any)["finalizers"] = []any{"example.com/hold"}
	c, err := put(t, s, held)
	require.NoError(t, err)
	require.NoError(t, s.Delete(ByUser, kube.RefOf(c), c.GetUID()))
	c = s.Get(kube.RefOf(c))
	require.NotNil(t, c.GetDeletionTimestamp())
	released := c.DeepCopy()
	released.SetFinalizers(nil)
	_, err = s.Update(ByUser, released)
	require.NoError(t, err)
	require.Nil(t, s.Get(kube.RefOf(c)))

	p, err := put(t, s, parse(t, `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: "x:1"}]}}`))
	require.NoError(t, err)
	require.NoError(t, s.Delete(ByUser, kube.RefOf(p), ""))
	require.Nil(t, s.Get(kube.RefOf(p)), "nobody has to stop a Pod without a node")
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, first, second, want string }{
		{
			"a Deployment's selector",
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}}`,
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: {matchLabels: {a: c}}, template: {metadata: {labels: {a: c}}, spec: {containers: [{name: c, image: x}]}}}}`,
			"spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"c\"}}: field is immutable",
		},
		{
			"a selector that misses its own Pods", "",
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: c}}, spec: {containers: [{name: c, image: x}]}}}}`,
			"`selector` does not match template `labels`",
		},
		{
			"a Job's template",
			`{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "x:1"}]}}}}`,
			`{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "x:2"}]}}}}`,
			"spec.template: Invalid value",
		},
		{
			"a Pod's command",
			`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: x}]}}`,
			`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: x, command: [a]}]}}`,
			"pod updates may not change fields other than",
		},
		{
			"a StatefulSet's service name",
			`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {serviceName: a, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}}`,
			`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {serviceName: b, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}}`,
			"updates to statefulset spec for fields other than",
		},
		{
			"a Service that becomes headless",
			`{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}]}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: None, ports: [{port: 80}]}}`,
			"spec.clusterIPs[0]: Invalid value: [\"None\"]: may not change once set",
		},
		{
			"a node port that is taken",
			`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30010}]}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: b}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30010}]}}`,
			"spec.ports[0].nodePort: Invalid value: 30010: provided port is already allocated",
		},
		{
			"a label value that is too long", "",
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {l: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}}}`,
			"must be no more than 63",
		},
		{
			"a number that is text", "",
			`{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: "80"}]}}`,
			"cannot be handled as a Service",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := emptyServer()
			if c.first != "" {
				_, err := put(t, s, parse(t, c.first))
				require.NoError(t, err)
			}
			_, err := put(t, s, parse(t, c.second))
			require.ErrorContains(t, err, c.want)
		})
	}
}

// nodePortsOf returns the node ports that a Service holds.
func nodePortsOf(object kube.Object) []int64 {
	var held []int64
	ports, _, _ := unstructured.NestedSlice(object.Object, "spec", "ports")
	for _, port := range ports {
		if number, _ := port.(map[string]any)["nodePort"].(int64); number != 0 {
			held = append(held, number)
		}
	}
	return held
}

func TestServicesKeepWhatTheyWereGiven(t *testing.T) {
	s := emptyServer()
	first, err := put(t, s, parse(t, `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: NodePort, ports: [{port: 80, name: a}, {port: 81, name: b}]}}`))
	require.NoError(t, err)
	require.Equal(t, `"10.96.1.2"`, text(t, first, "spec", "clusterIP"))
	require.Equal(t, []int64{30086, 30087}, nodePortsOf(first))

	again, err := put(t, s, parse(t, `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: NodePort, ports: [{port: 81, name: b}]}}`))
	require.NoError(t, err)
	require.Equal(t, []int64{30087}, nodePortsOf(again))
	require.Equal(t, text(t, first, "spec", "clusterIP"), text(t, again, "spec", "clusterIP"))

	other, err := put(t, s, parse(t, `{apiVersion: v1, kind: Service, metadata: {name: o}, spec: {type: NodePort, ports: [{port: 80}]}}`))
	require.NoError(t, err)
	require.Equal(t, []int64{30086}, nodePortsOf(other), "a port that was given up is free")

	plain, err := put(t, s, parse(t, `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: ClusterIP, ports: [{port: 81, name: b, nodePort: 30087}]}}`))
	require.NoError(t, err)
	require.Empty(t, nodePortsOf(plain), "a type without node ports drops those that it was given")
}

// TestATypeWithoutNodePortsDropsThoseThatThereWere holds the server to what the real
// one does when a type changes: node ports that there were are dropped, also where
// ports have been added or taken away; a new one is refused.
func TestATypeWithoutNodePortsDropsThoseThatThereWere(t *testing.T) {
	const before = `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: %s, ports: [{port: 80, name: a, nodePort: 30010}, {port: 81, name: b, nodePort: 30011}]}}`
	for after, want := range map[string]string{
		`[{port: 81, name: b, nodePort: 30011}]`:                                                                         "",
		`[{port: 80, name: a}, {port: 81, name: b, nodePort: 30011}]`:                                                    "",
		`[{port: 81, name: b, nodePort: 30011}, {port: 80, name: a, nodePort: 30010}]`:                                   "",
		`[{port: 80, name: a, nodePort: 30010}, {port: 82, name: c}]`:                                                    "",
		`[{port: 80, name: a, nodePort: 30012}, {port: 81, name: b, nodePort: 30011}]`:                                   "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
		`[{port: 80, name: a, nodePort: 30010}, {port: 81, name: b, nodePort: 30011}, {port: 82, name: c, nodePort: 5}]`: "spec.ports[2].nodePort: Forbidden",
	} {
		for _, serviceType := range []string{"NodePort", "LoadBalancer", "LoadBalancer, allocateLoadBalancerNodePorts: false"} {
			s := emptyServer()
			_, err := put(t, s, parse(t, fmt.Sprintf(before, serviceType)))
			require.NoError(t, err)
			stored, err := put(t, s, parse(t, `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: ClusterIP, ports: `+after+`}}`))
			if want != "" {
				require.ErrorContains(t, err, want)
				continue
			}
			require.NoError(t, err, after)
			require.Empty(t, nodePortsOf(stored), after)
		}
	}
}

// TestDefaultsAreFilledInOnce wants what is stored to be stored again as it is: an
// InPlace child would be written for ever otherwise.
func TestDefaultsAreFilledInOnce(t *testing.T) {
	for _, content := range []string{
		`{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: NodePort, ports: [{name: a, port: 80}, {name: b, port: 443}]}}`,
		`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}`,
		`{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}}`,
		`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}`,
	} {
		s := emptyServer()
		first, err := put(t, s, parse(t, content))
		require.NoError(t, err)
		second, err := s.Update(ByUser, first.DeepCopy())
		require.NoError(t, err)
		require.Equal(t, first, second)
	}
}

func TestNodePortsOfSomePortsAreKept(t *testing.T) {
	s := emptyServer()
	stored, err := put(t, s, parse(t, `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: NodePort, ports: [{port: 80, name: a}, {port: 81, name: b, nodePort: 30086}]}}`))
	require.NoError(t, err)
	require.Equal(t, []int64{30087, 30086}, nodePortsOf(stored), "what is named is given to nobody else")

	_, err = put(t, s, parse(t, `{apiVersion: v1, kind: Service, metadata: {name: d}, spec: {type: NodePort, ports: [{port: 80, name: a, nodePort: 30020}, {port: 81, name: b, nodePort: 30020}]}}`))
	require.ErrorContains(t, err, "spec.ports[1].nodePort: Duplicate value: 30020")
}

func TestPullPolicy(t *testing.T) {
	for image, want := range map[string]string{
		"nginx": "Always", "nginx:latest": "Always", "nginx:1": "IfNotPresent", "host:5000/nginx": "Always",
		"host:5000/nginx:1": "IfNotPresent", "nginx@sha256:0": "IfNotPresent", "nginx:latest@sha256:0": "Always",
	} {
		require.EqualValues(t, want, pullPolicy(image), image)
	}
}

func TestServerSideApplyKeepsWhatOthersHaveSet(t *testing.T) {
	s := emptyServer()
	first := &unstructured.Unstructured{Object: deployment("nginx:1", int64(4))}
	first.SetNamespace("default")
	d, err := s.Apply(&Configuration{Object: first})
	require.NoError(t, err)
	require.Equal(t, `{}`, text(t, &unstructured.Unstructured{Object: map[string]any{
		"x": d.Object["metadata"].(map[string]any)["managedFields"].([]any)[0],
	}}, "x", "fieldsV1", "f:spec", "f:replicas"))

	dropped := &unstructured.Unstructured{Object: deployment("nginx:1", nil)}
	dropped.SetNamespace("default")
	d, err = s.Apply(&Configuration{Object: dropped})
	require.NoError(t, err)
	require.Equal(t, "1", text(t, d, "spec", "replicas"), "a field that is applied no more gets its default")

	_, err = s.Apply(&Configuration{Object: first})
	require.NoError(t, err)
	scaled := s.Get(kube.RefOf(first)).DeepCopy()
	require.NoError(t, unstructured.SetNestedField(scaled.Object, int64(7), "spec", "replicas"))
	_, err = s.Update(ByUser, scaled)
	require.NoError(t, err)
	d, err = s.Apply(&Configuration{Object: dropped})
	require.NoError(t, err)
	require.Equal(t, "7", text(t, d, "spec", "replicas"), "somebody else has scaled it")
}

// TestTolerationsOfAPod wants those that the API server adds to a Pod added to a
// list that replaces them, too, and none that is there taken away.
func TestTolerationsOfAPod(t *testing.T) {
	s := emptyServer()
	pod := func(tolerations ...any) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"},
			"spec": map[string]any{
				"containers":  []any{map[string]any{"name": "a", "image": "b"}},
				"tolerations": tolerations,
			},
		}
	}
	made, err := put(t, s, pod())
	require.NoError(t, err)
	change := func(tolerations ...any) (kube.Object, error) {
		changed := made.DeepCopy()
		changed.SetResourceVersion("")
		require.NoError(t, unstructured.SetNestedSlice(changed.Object, tolerations, "spec", "tolerations"))
		return s.Update(ByUser, changed)
	}
	changed, err := change(map[string]any{"key": "gpu", "operator": "Exists"})
	require.NoError(t, err)
	keys := []any{}
	list, _, _ := unstructured.NestedSlice(changed.Object, "spec", "tolerations")
	for _, item := range list {
		keys = append(keys, item.(map[string]any)["key"])
	}
	require.Equal(t, []any{"gpu", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}, keys)
	_, err = change(map[string]any{"key": "other", "operator": "Exists"})
	require.ErrorContains(t, err, "existing toleration can not be modified")
}

func TestUnionsHaveOneMember(t *testing.T) {
	const pod = `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: x, %s}]}}`
	for written, want := range map[string]string{
		`livenessProbe: {periodSeconds: 5}`:                                        "spec.containers.livenessProbe: Required value: must specify a handler type",
		`readinessProbe: {}`:                                                       "spec.containers.readinessProbe: Required value: must specify a handler type",
		`startupProbe: {exec: {command: [a]}, tcpSocket: {port: 80}}`:              "spec.containers.startupProbe: Forbidden: may not specify more than 1 handler type",
		`lifecycle: {preStop: {}}`:                                                 "spec.containers.lifecycle.preStop: Required value: must specify a handler type",
		`lifecycle: {postStart: {}}`:                                               "spec.containers.lifecycle.postStart: Required value: must specify a handler type",
		`env: [{name: A, valueFrom: {}}]`:                                          "spec.containers.env[0].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`",
		`env: [{name: A, value: b, valueFrom: {secretKeyRef: {name: s, key: k}}}]`: "env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty",
		`env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}, fieldRef: {fieldPath: spec.nodeName}}}]`: "env[0].valueFrom: Invalid value: \"\": may not have more than one field",
		`envFrom: [{prefix: A}]`: "spec.containers.envFrom: Invalid value: \"\": must specify one of: `configMapRef` or `secretRef`",
		`envFrom: [{secretRef: {name: s}}], env: [{name: A, value: b}, {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}]`: "",
		`lifecycle: {}, readinessProbe: {httpGet: {path: /, port: 8080}}`:                                                        "",
	} {
		_, err := put(t, emptyServer(), parse(t, fmt.Sprintf(pod, written)))
		if want == "" {
			require.NoError(t, err, written)
			continue
		}
		require.ErrorContains(t, err, want, written)
	}
}
