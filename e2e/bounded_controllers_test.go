package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// boundedObjects is the component that bounds what kube-controller-manager, etcd and Metacontroller
// have of each object.
const boundedObjects = "../deploy/components/bounded-objects/policy.yaml"

// send calls kubectl with a manifest. The error has what kubectl says.
func send(manifest string, args ...string) error {
	_, stderr, err := controlPlane.KubectlWithInput(manifest, args...)
	if err != nil {
		return fmt.Errorf("%w: %s", err, stderr)
	}
	return nil
}

// TestPortsOfServicesAreBounded: with the component bounded-objects no user of one namespace gives a
// Service many ports, which the controllers of its endpoints sort for each of its Pods.
func TestPortsOfServicesAreBounded(t *testing.T) {
	ns := namespace(t, "ports")
	const metacontroller = "system:serviceaccount:metacontroller:metacontroller"
	kubectl(t, "create", "role", "all", "--verb=*", "--resource=services", "--namespace="+ns)
	kubectl(t, "create", "rolebinding", "all", "--role=all", "--user=alice", "--user="+metacontroller, "--namespace="+ns)
	write := func(user, verb, name string, ports int, flags ...string) error {
		var list []string
		for i := range ports {
			list = append(list, fmt.Sprintf(`{"name":"p%d","port":%d}`, i, 1000+i))
		}
		manifest := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"` + name + `"},"spec":{"selector":{"a":"b"},"ports":[` + strings.Join(list, ",") + `]}}`
		return send(manifest, append(flags, verb, "--filename=-", "--as="+user, "--as-group=system:authenticated", "--namespace="+ns)...)
	}
	// Another test may have had the policy just before.
	require.Eventually(t, func() bool { return write("alice", "create", "former", 30) == nil }, time.Minute, 200*time.Millisecond)
	kubectl(t, "apply", "--filename="+boundedObjects)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+boundedObjects) })
	const refusal = "a Service can have at most 20 ports, or as many as it had"
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		err := write("alice", "create", "many", 21, "--dry-run=server")
		return err != nil && strings.Contains(err.Error(), refusal)
	}, time.Minute, 200*time.Millisecond)
	require.NoError(t, write("alice", "create", "few", 20))
	require.ErrorContains(t, write("alice", "apply", "few", 21, "--server-side", "--force-conflicts"), refusal)
	require.ErrorContains(t, write("alice", "apply", "former", 31), refusal)
	require.NoError(t, write("alice", "apply", "former", 29))
	kubectl(t, "label", "service", "former", "c=d", "--namespace="+ns, "--as=alice")
	for _, selector := range []string{`{"a":"c"}`, `{"b":"b"}`, "null"} { // of other Pods
		_, stderr, err := controlPlane.Kubectl("patch", "service", "former", "--type=merge", `--patch={"spec":{"selector":`+selector+`}}`, "--namespace="+ns, "--as=alice")
		require.Error(t, err, selector)
		require.Contains(t, stderr, refusal)
	}
	require.NoError(t, write("alice", "replace", "former", 20))
	kubectl(t, "patch", "service", "former", "--type=merge", `--patch={"spec":{"selector":{"b":"c"}}}`, "--namespace="+ns, "--as=alice")
	require.NoError(t, write(metacontroller, "create", "of-a-model-box", 50))
	require.NoError(t, write("admin", "create", "of-an-installation", 50, "--as-group=system:masters"))
}

// TestSelectorsAreBounded: with the component bounded-objects nobody has kube-controller-manager read
// thousands of values at each event of a Pod.
func TestSelectorsAreBounded(t *testing.T) {
	ns := namespace(t, "selectors")
	// With so many labels and, in one expression, values.
	length := 1
	write := func(verb, kind, apiVersion string, labels, values int, flags ...string) error {
		selected := map[string]string{}
		for i := range labels {
			selected[fmt.Sprintf("l%d", i)] = strings.Repeat("x", length)
		}
		var selector any = selected
		if apiVersion != "v1" {
			full := map[string]any{"matchLabels": selected}
			if values > 0 {
				full["matchExpressions"] = []any{map[string]any{"key": "l0", "operator": "NotIn", "values": slices.Collect(func(yield func(string) bool) {
					for i := 0; i < values && yield(fmt.Sprint("v", i)); i++ {
					}
				})}}
			}
			selector = full
		}
		template := map[string]any{"metadata": map[string]any{"labels": selected}, "spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "a"}}}}
		spec := map[string]any{"selector": selector, "template": template}
		switch kind {
		case "Service":
			spec = map[string]any{"selector": selector, "ports": []any{map[string]any{"port": 80}}}
		case "PodDisruptionBudget":
			spec = map[string]any{"selector": selector, "maxUnavailable": 1}
		case "Job":
			template["spec"].(map[string]any)["restartPolicy"] = "Never"
			spec["manualSelector"] = true
		case "StatefulSet":
			spec["serviceName"] = "a"
		}
		manifest, err := json.Marshal(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "a"}, "spec": spec})
		require.NoError(t, err)
		return send(string(manifest), append(flags, verb, "--filename=-", "--namespace="+ns)...)
	}
	// Another test may have had the policy just before.
	require.Eventually(t, func() bool { return write("create", "ReplicaSet", "apps/v1", 1, 100) == nil }, time.Minute, 200*time.Millisecond)
	kubectl(t, "apply", "--filename="+boundedObjects)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+boundedObjects) })
	const refusal = "a selector can have at most 10 labels, expressions and values and 700 characters"
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		err := write("create", "Deployment", "apps/v1", 11, 0, "--dry-run=server")
		return err != nil && strings.Contains(err.Error(), refusal)
	}, time.Minute, 200*time.Millisecond)
	kubectl(t, "label", "replicaset", "a", "c=d", "--namespace="+ns)
	kubectl(t, "scale", "replicaset", "a", "--replicas=0", "--namespace="+ns)
	kubectl(t, "delete", "replicaset", "a", "--namespace="+ns)
	as := func(name string) []string {
		return []string{"--dry-run=server", "--as=system:serviceaccount:kube-system:" + name, "--as-group=system:masters"}
	}
	require.NoError(t, write("create", "ReplicaSet", "apps/v1", 30, 0, as("deployment-controller")...), "of a Deployment from before")
	require.ErrorContains(t, write("create", "Job", "batch/v1", 30, 0, as("cronjob-controller")...), refusal)
	length = 63
	require.NoError(t, write("create", "Deployment", "apps/v1", 8, 0, "--dry-run=server"))
	require.ErrorContains(t, write("create", "Deployment", "apps/v1", 10, 0, "--dry-run=server"), refusal)
	length = 1
	for kind, apiVersion := range map[string]string{
		"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "Job": "batch/v1", "PodDisruptionBudget": "policy/v1",
		"ReplicationController": "v1", "Service": "v1",
	} {
		most := 10
		if kind == "ReplicaSet" {
			most = 11 // that of a Deployment has one more
		}
		require.ErrorContains(t, write("create", kind, apiVersion, most+1, 0), refusal, kind)
		if apiVersion != "v1" {
			require.ErrorContains(t, write("create", kind, apiVersion, 1, most-1), refusal, kind)
			require.NoError(t, write("create", kind, apiVersion, 1, most-2, "--dry-run=server"), kind)
		}
		require.NoError(t, write("create", kind, apiVersion, most, 0), kind)
	}
	for kind, apiVersion := range map[string]string{"PodDisruptionBudget": "policy/v1", "Service": "v1", "ReplicationController": "v1"} {
		require.ErrorContains(t, write("apply", kind, apiVersion, 11, 0, "--server-side", "--force-conflicts"), refusal, kind)
	}
}

// TestAffinitiesAreBounded: with the component bounded-objects nobody of one namespace has kube-scheduler
// read thousands of values at each event of a Pod.
func TestAffinitiesAreBounded(t *testing.T) {
	ns := namespace(t, "affinities")
	const metacontroller = "system:serviceaccount:metacontroller:metacontroller"
	kubectl(t, "create", "role", "all", "--verb=*", "--resource=*.*", "--namespace="+ns)
	kubectl(t, "create", "rolebinding", "all", "--role=all", "--user=alice", "--user="+metacontroller, "--namespace="+ns)
	selector := func(entries int) string { // of a label, an expression and values, in one term
		list := make([]string, entries-3)
		for i := range list {
			list[i] = fmt.Sprintf(`"v%d"`, i)
		}
		return `{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"NotIn","values":[` + strings.Join(list, ",") + `]}]}`
	}
	affinity := func(to, when, terms string) string {
		return `"affinity":{"` + to + `":{"` + when + `DuringSchedulingIgnoredDuringExecution":[` + terms + `]}}`
	}
	spread := func(more string) string {
		return `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule",` + more + `}]`
	}
	// Each has so many entries, which are 20 or 21. A key is an expression and a value.
	fields := map[string]func(entries int) string{
		"required": func(n int) string {
			return affinity("podAffinity", "required", `{"topologyKey":"a","labelSelector":`+selector(n)+`}`)
		},
		"namespace": func(n int) string {
			return affinity("podAntiAffinity", "required", `{"topologyKey":"a","labelSelector":{},"namespaceSelector":`+selector(n)+`}`)
		},
		"preferred": func(n int) string {
			return affinity("podAntiAffinity", "preferred", `{"weight":1,"podAffinityTerm":{"topologyKey":"a","labelSelector":`+selector(n)+`}}`)
		},
		"spread": func(n int) string { return spread(`"labelSelector":` + selector(n)) },
		"terms": func(n int) string {
			return affinity("podAffinity", "required", numbered(`{"topologyKey":"a","labelSelector":{}}`, n))
		},
		"namespaces": func(n int) string {
			return affinity("podAntiAffinity", "required", `{"topologyKey":"a","labelSelector":{},"namespaces":[`+numbered(`"ns#"`, n-1)+`]}`)
		},
		"keys": func(n int) string {
			return affinity("podAffinity", "required", `{"topologyKey":"a","labelSelector":`+selector(n-10)+`,"matchLabelKeys":[`+numbered(`"k#"`, 5)+`]}`)
		},
		"keys that differ": func(n int) string {
			return affinity("podAntiAffinity", "preferred", `{"weight":1,"podAffinityTerm":{"topologyKey":"a","labelSelector":`+selector(n-10)+`,"mismatchLabelKeys":[`+numbered(`"k#"`, 5)+`]}}`)
		},
		"keys to spread": func(n int) string {
			return spread(`"labelSelector":` + selector(n-10) + `,"matchLabelKeys":[` + numbered(`"k#"`, 5) + `]`)
		},
	}
	write := func(user, verb, manifest string, flags ...string) error {
		return send(manifest, append(flags, verb, "--filename=-", "--as="+user, "--as-group=system:authenticated", "--namespace="+ns)...)
	}
	many, few := fields["required"](21), fields["required"](20)
	// Another test may have had the policy just before.
	require.Eventually(t, func() bool {
		return write("alice", "create", objectWithPod("Deployment", "apps/v1", "former", many)) == nil
	}, time.Minute, 200*time.Millisecond)
	require.NoError(t, write("alice", "create", objectWithPod("Pod", "v1", "former", many)))
	require.NoError(t, write("alice", "create", objectWithPod("Deployment", "apps/v1", "large", fields["required"](5_000))))
	kubectl(t, "apply", "--filename="+boundedObjects)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+boundedObjects) })
	const refusal = "podAffinity, podAntiAffinity and topologySpreadConstraints can have at most 20 terms, labels, expressions, values and namespaces each"
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		err := write("alice", "create", objectWithPod("Pod", "v1", "a", many), "--dry-run=server")
		return err != nil && strings.Contains(err.Error(), refusal)
	}, time.Minute, 200*time.Millisecond)
	for kind, apiVersion := range kindsWithPods {
		for name, field := range fields {
			require.NoError(t, write("alice", "create", objectWithPod(kind, apiVersion, "a", field(20)), "--dry-run=server"), "%s %s", kind, name)
			require.ErrorContains(t, write("alice", "create", objectWithPod(kind, apiVersion, "a", field(21)), "--dry-run=server"), refusal, "%s %s", kind, name)
		}
		require.NoError(t, write("alice", "create", objectWithPod(kind, apiVersion, "a", `"hostname":"a"`), "--dry-run=server"), kind)
	}
	// What is there can be written, but not with more.
	for _, object := range []string{"pod/former", "deployment/former", "deployment/large"} {
		kubectl(t, "label", object, "c=d", "--namespace="+ns, "--as=alice")
	}
	kubectl(t, "scale", "deployment", "former", "--replicas=2", "--namespace="+ns, "--as=alice")
	require.ErrorContains(t, write("alice", "replace", objectWithPod("Deployment", "apps/v1", "former", fields["required"](22))), refusal)
	require.NoError(t, write("alice", "replace", objectWithPod("Deployment", "apps/v1", "former", few)))
	// Of a template that was judged when it was written, of what the CRDs admit, and of an installation.
	require.NoError(t, send(objectWithPod("Pod", "v1", "a", many), "create", "--filename=-", "--dry-run=server", "--namespace="+ns,
		"--as=system:serviceaccount:kube-system:replicaset-controller", "--as-group=system:serviceaccounts:kube-system", "--as-group=system:masters"))
	require.NoError(t, write(metacontroller, "create", objectWithPod("Pod", "v1", "a", many), "--dry-run=server"))
	require.NoError(t, write("admin", "create", objectWithPod("Pod", "v1", "a", many), "--dry-run=server", "--as-group=system:masters"))
}

// kindsWithPods have a Pod, by their apiVersion.
var kindsWithPods = map[string]string{
	"Pod": "v1", "Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "Job": "batch/v1", "CronJob": "batch/v1", "ReplicationController": "v1",
}

// objectWithPod returns an object of one of these, whose Pod has a field of its spec.
func objectWithPod(kind, apiVersion, name, field string) string {
	if !strings.Contains(field, `"containers":`) {
		field = `"containers":[{"name":"a","image":"a"}],` + field
	}
	pod := `{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Always",` + field + `}}`
	spec := `{"selector":{"matchLabels":{"a":"b"}},"serviceName":"a","template":` + pod + `}`
	once := strings.ReplaceAll(pod, "Always", "Never")
	switch kind {
	case "Pod":
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q},"spec":{"automountServiceAccountToken":false,%s`, name, strings.SplitN(pod, `"spec":{`, 2)[1])
	case "Job":
		spec = `{"template":` + once + `}`
	case "CronJob":
		spec = `{"schedule":"0 0 1 1 *","jobTemplate":{"spec":{"template":` + once + `}}}`
	case "ReplicationController":
		spec = `{"selector":{"a":"b"},"template":` + pod + `}`
	}
	if kind != "StatefulSet" {
		spec = strings.Replace(spec, `"serviceName":"a",`, "", 1)
	}
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q},"spec":%s}`, apiVersion, kind, name, spec)
}

// numbered returns a list of count times the format, each with its number in the place of #.
func numbered(format string, count int) string {
	list := make([]string, count)
	for i := range list {
		list[i] = strings.ReplaceAll(format, "#", strconv.Itoa(i))
	}
	return strings.Join(list, ",")
}

// TestPodsAreBounded: with the component bounded-objects nobody of one namespace has kube-scheduler
// compare hundreds of disks or ports of a Pod with those of all others, again and again.
func TestPodsAreBounded(t *testing.T) {
	ns := namespace(t, "pods")
	const metacontroller = "system:serviceaccount:metacontroller:metacontroller"
	kubectl(t, "create", "role", "all", "--verb=*", "--resource=*.*", "--namespace="+ns)
	kubectl(t, "create", "rolebinding", "all", "--role=all", "--user=alice", "--user="+metacontroller, "--namespace="+ns)
	volumes := func(list ...string) string { return `"volumes":[` + strings.Join(list, ",") + `]` }
	const claim, iscsi = `{"name":"claim#","persistentVolumeClaim":{"claimName":"a"}}`, `{"name":"iscsi#","iscsi":{"targetPortal":"a","iqn":"iqn.2001-04.com.example:a","lun":0}}`
	containers := func(field, init string) string {
		return `"containers":[{"name":"a","image":"a",` + field + `}],"initContainers":[{"name":"b","image":"b",` + init + `}]`
	}
	ports := func(n int) string {
		return `"ports":[{"containerPort":1},` + numbered(`{"hostIP":"10.0.0.#","containerPort":10#,"hostPort":10#}`, n) + `]`
	}
	limits := func(n int) string {
		return fmt.Sprintf(`"resources":{"limits":{%s},"requests":{%[1]s}}`, numbered(`"a.b/c#":"1"`, n))
	}
	nodes := func(n int) string {
		return `{"matchExpressions":[{"key":"a","operator":"In","values":[` + numbered(`"v#"`, n-2) + `]}]}`
	}
	disks := "a Pod can have at most 20 volumes of claims, iscsi, rbd, gcePersistentDisk and awsElasticBlockStore"
	// Each has as many as may be, or one more.
	fields := map[string]struct {
		refusal string
		having  func(more int) string
	}{
		"claims": {disks, func(more int) string {
			return volumes(numbered(claim, 10+more), numbered(`{"name":"eph#","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}}}`, 10))
		}},
		"disks": {disks, func(more int) string {
			return volumes(numbered(iscsi, 10), numbered(`{"name":"gce#","gcePersistentDisk":{"pdName":"a"}}`, 5+more), numbered(`{"name":"aws#","awsElasticBlockStore":{"volumeID":"a"}}`, 5))
		}},
		"monitors": {disks, func(more int) string {
			return volumes(`{"name":"rbd","rbd":{"image":"a","monitors":[`+numbered(`"10.0.0.#"`, 9+more)+`]}}`, numbered(iscsi, 10))
		}},
		"host ports": {"the containers of a Pod can have at most 20 hostPorts", func(more int) string { return containers(ports(10+more), ports(10)) }},
		"limits":     {"the containers of a Pod can have at most 100 limits and requests", func(more int) string { return containers(limits(24+more), limits(26)) }},
		"nodes": {"nodeAffinity can have at most 100 terms, expressions and values", func(more int) string {
			return `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` + nodes(50+more) + `]},"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":` + nodes(50) + `}]}}`
		}},
	}
	write := func(user, verb, manifest string, flags ...string) error {
		return send(manifest, append(flags, verb, "--filename=-", "--as="+user, "--as-group=system:authenticated", "--namespace="+ns)...)
	}
	many := fields["host ports"].having(1)
	// Another test may have had the policy just before.
	require.Eventually(t, func() bool {
		return write("alice", "create", objectWithPod("Deployment", "apps/v1", "former", many)) == nil
	}, time.Minute, 200*time.Millisecond)
	kubectl(t, "apply", "--filename="+boundedObjects)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+boundedObjects) })
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		err := write("alice", "create", objectWithPod("Pod", "v1", "a", many), "--dry-run=server")
		return err != nil && strings.Contains(err.Error(), fields["host ports"].refusal)
	}, time.Minute, 200*time.Millisecond)
	for kind, apiVersion := range kindsWithPods {
		for name, field := range fields {
			require.NoError(t, write("alice", "create", objectWithPod(kind, apiVersion, "a", field.having(0)), "--dry-run=server"), "%s %s", kind, name)
			require.ErrorContains(t, write("alice", "create", objectWithPod(kind, apiVersion, "a", field.having(1)), "--dry-run=server"), field.refusal, "%s %s", kind, name)
		}
	}
	// A StatefulSet gives its Pods volumes of claims.
	set := strings.Replace(objectWithPod("StatefulSet", "apps/v1", "a", volumes(numbered(claim, 19))), `"serviceName":"a",`, `"serviceName":"a","volumeClaimTemplates":[`+
		numbered(`{"metadata":{"name":"t#"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}`, 2)+`],`, 1)
	require.ErrorContains(t, write("alice", "create", set, "--dry-run=server"), disks)
	// What is there can be written, but not with more.
	kubectl(t, "label", "deployment", "former", "c=d", "--namespace="+ns, "--as=alice")
	kubectl(t, "scale", "deployment", "former", "--replicas=2", "--namespace="+ns, "--as=alice")
	require.ErrorContains(t, write("alice", "replace", objectWithPod("Deployment", "apps/v1", "former", fields["host ports"].having(2))), fields["host ports"].refusal)
	require.ErrorContains(t, write("alice", "replace", objectWithPod("Deployment", "apps/v1", "former", fields["disks"].having(1))), disks)
	require.NoError(t, write("alice", "replace", objectWithPod("Deployment", "apps/v1", "former", fields["host ports"].having(0))))
	// Of a template that was judged when it was written, of what the CRDs admit, and of an installation.
	require.NoError(t, send(objectWithPod("Pod", "v1", "a", many), "create", "--filename=-", "--dry-run=server", "--namespace="+ns,
		"--as=system:serviceaccount:kube-system:replicaset-controller", "--as-group=system:serviceaccounts:kube-system", "--as-group=system:masters"))
	require.NoError(t, write(metacontroller, "create", objectWithPod("Pod", "v1", "a", many), "--dry-run=server"))
	require.NoError(t, write("admin", "create", objectWithPod("Pod", "v1", "a", many), "--dry-run=server", "--as-group=system:masters"))
}

// TestAutoscalersAreBounded: with the component bounded-objects nobody of one namespace has
// kube-controller-manager ask for thousands of metrics every 15 s.
func TestAutoscalersAreBounded(t *testing.T) {
	ns := namespace(t, "autoscalers")
	kubectl(t, "create", "role", "all", "--verb=*", "--resource=horizontalpodautoscalers.autoscaling", "--namespace="+ns)
	kubectl(t, "create", "rolebinding", "all", "--role=all", "--user=alice", "--namespace="+ns)
	const metric = `{"type":"External","external":{"metric":{"name":"m#"},"target":{"type":"Value","value":"1"}}}`
	autoscaler := func(name string, metrics int) string {
		return fmt.Sprintf(`{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":%q},"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"},"metrics":[%s]}}`,
			name, numbered(metric, metrics))
	}
	write := func(verb, manifest string, flags ...string) error {
		return send(manifest, append(flags, verb, "--filename=-", "--namespace="+ns)...)
	}
	const alice = "--as=alice"
	require.Eventually(t, func() bool { return write("create", autoscaler("former", 12), alice) == nil }, time.Minute, 200*time.Millisecond)
	kubectl(t, "apply", "--filename="+boundedObjects)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+boundedObjects) })
	const refusal = "a HorizontalPodAutoscaler can have at most 10 metrics, and this one has 11"
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		err := write("create", autoscaler("a", 11), alice, "--dry-run=server")
		return err != nil && strings.Contains(err.Error(), refusal)
	}, time.Minute, 200*time.Millisecond)
	require.NoError(t, write("create", autoscaler("a", 10), alice, "--dry-run=server"))
	require.NoError(t, write("create", autoscaler("a", 0), alice, "--dry-run=server"))
	// In version 1 they are in an annotation.
	first := fmt.Sprintf(`{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a","annotations":{"autoscaling.alpha.kubernetes.io/metrics":%q}},"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"}}}`,
		"["+strings.TrimPrefix(strings.Repeat(`,{"type":"External","external":{"metricName":"m","targetValue":"1"}}`, 11), ",")+"]")
	require.ErrorContains(t, write("create", first, alice, "--dry-run=server"), refusal)
	kubectl(t, "label", "horizontalpodautoscaler", "former", "c=d", "--namespace="+ns, alice)
	require.ErrorContains(t, write("replace", autoscaler("former", 13), alice), "at most 10 metrics, and this one has 13")
	require.NoError(t, write("replace", autoscaler("former", 11), alice))
	require.NoError(t, write("create", autoscaler("a", 11), "--dry-run=server")) // who may write all
}

// TestEventsAreBounded: no quota counts Events, which users with edit may create.
func TestEventsAreBounded(t *testing.T) {
	ns := namespace(t, "events")
	kubectl(t, "create", "role", "all", "--verb=*", "--resource=events,events.events.k8s.io", "--namespace="+ns)
	kubectl(t, "create", "rolebinding", "all", "--role=all", "--user=alice", "--namespace="+ns)
	about := `"metadata":{"name":%q%s},`
	old := func(message, more string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Event",`+about+`"involvedObject":{"kind":"Pod","name":"a","namespace":%q},"type":"Normal","reason":"A","message":%q}`,
			fmt.Sprint("a", time.Now().UnixNano()), more, ns, message)
	}
	write := func(user, manifest string, flags ...string) error {
		return send(manifest, append(flags, "create", "--filename=-", "--validate=ignore", "--as="+user, "--namespace="+ns)...)
	}
	kubectl(t, "apply", "--filename="+boundedObjects)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+boundedObjects) })
	const refusal = "an Event can have at most 4000 bytes and few managed fields"
	long := strings.Repeat("x", 4000)
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		err := write("alice", old(long, ""), "--dry-run=server")
		return err != nil && strings.Contains(err.Error(), refusal)
	}, time.Minute, 200*time.Millisecond)
	require.NoError(t, write("alice", old(long[:3000], "")))
	fields := func(key string, count int) string {
		var list []string
		for i := range count {
			list = append(list, fmt.Sprintf(`"f:%s%d":{}`, key, i))
		}
		return `,"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{` + strings.Join(list, ",") + `}}}}]`
	}
	require.ErrorContains(t, write("alice", old("a", fields("a", 100))), refusal)
	require.ErrorContains(t, write("alice", old("a", fields(long, 1))), refusal)
	require.NoError(t, write("alice", old("a", fields("a", 5))))
	// Few at each level, and many in all.
	var each []string
	for i := range 30 {
		each = append(each, fmt.Sprintf(`"f:%s%d":{"f:%s":{}}`, long[:90], i, long[:90]))
	}
	wide := `,"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{` + strings.Join(each, ",") + `}}}]`
	require.ErrorContains(t, write("alice", old("a", wide)), refusal)
	newer := func(note, field string) string {
		return fmt.Sprintf(`{"apiVersion":"events.k8s.io/v1","kind":"Event",`+about+`"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"a.b/c","reportingInstance":"a","action":"A","reason":"A","type":"Normal",
			"regarding":{"kind":"Pod","name":"a","namespace":%q,"fieldPath":%q},"note":%q}`, fmt.Sprint("b", time.Now().UnixNano()), "", ns, field, note)
	}
	require.ErrorContains(t, write("alice", newer("a", long)), refusal)
	require.NoError(t, write("alice", newer(long[:1000], "spec")))
	require.NoError(t, write("kubelet", old(long, ""), "--as-group=system:masters"), "which writes Events of all namespaces")
}
