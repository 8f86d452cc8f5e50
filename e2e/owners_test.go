package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// absentOwner is an owner reference, one of many, to what does not exist.
func absentOwner(i int) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":"absent","uid":"%d"}`, i)
}

// ownedBy is an object with so many owners that do not exist.
func ownedBy(kind, apiVersion, name string, count int) string {
	numbers := make([]int, count)
	for i := range numbers {
		numbers[i] = i
	}
	return ownedByThese(kind, apiVersion, name, numbers...)
}

// ownedByThese is an object with the owners of these numbers, which do not exist.
func ownedByThese(kind, apiVersion, name string, numbers ...int) string {
	var owners []string
	for _, i := range numbers {
		owners = append(owners, absentOwner(i))
	}
	return `{"apiVersion":"` + apiVersion + `","kind":"` + kind + `","metadata":{"name":"` + name + `","ownerReferences":[` + strings.Join(owners, ",") + `]}}`
}

// TestOwnersAreBounded: with the component bounded-objects no user of one namespace gives an object
// of any kind more than two owners, with many of which the garbage collector is late for the whole
// cluster.
func TestOwnersAreBounded(t *testing.T) {
	const policy = "../deploy/components/bounded-objects/policy.yaml"
	ns := namespace(t, "owners")
	kubectl(t, "create", "role", "all", "--verb=*", "--resource=configmaps,endpoints,serviceaccounts,roles.rbac.authorization.k8s.io,leases.coordination.k8s.io", "--namespace="+ns)
	kubectl(t, "create", "rolebinding", "all", "--role=all", "--user=alice", "--namespace="+ns)
	for _, verb := range []string{"create", "update"} { // in all namespaces
		kubectl(t, "create", "clusterrole", "may-"+verb, "--verb="+verb+",get", "--resource=leases.coordination.k8s.io")
		kubectl(t, "create", "clusterrolebinding", "may-"+verb, "--clusterrole=may-"+verb, "--user=may-"+verb)
		t.Cleanup(func() { kubectl(t, "delete", "clusterrole,clusterrolebinding", "may-"+verb) })
	}
	write := func(user, verb, manifest string) error {
		_, stderr, err := controlPlane.KubectlWithInput(manifest, verb, "--filename=-", "--validate=ignore", "--as="+user, "--namespace="+ns)
		if err != nil {
			return fmt.Errorf("%w: %s", err, stderr)
		}
		return nil
	}
	const leases = "coordination.k8s.io/v1"
	// Another test may have had the policy just before.
	require.Eventually(t, func() bool { return write("alice", "create", ownedBy("Lease", leases, "former", 30)) == nil }, time.Minute, 200*time.Millisecond)
	require.NoError(t, write("alice", "create", ownedBy("Lease", leases, "full", 20)))
	require.NoError(t, write("alice", "create", ownedBy("Lease", leases, "very-many", 2000)))
	kubectl(t, "apply", "--filename="+policy)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+policy) })
	const tooMany = "at most 2 owners, or those that it had: remove"
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		err := write("alice", "create", ownedBy("Lease", leases, fmt.Sprint("a", time.Now().UnixNano()), 3))
		return err != nil && strings.Contains(err.Error(), tooMany)
	}, time.Minute, 200*time.Millisecond)
	for kind, apiVersion := range map[string]string{"ConfigMap": "v1", "Endpoints": "v1", "ServiceAccount": "v1", "Role": "rbac.authorization.k8s.io/v1"} {
		require.ErrorContains(t, write("alice", "create", ownedBy(kind, apiVersion, "many", 3)), tooMany, kind)
		require.NoError(t, write("alice", "create", ownedBy(kind, apiVersion, "few", 2)), kind)
	}
	lease := func(name string, owners ...int) string { return ownedByThese("Lease", leases, name, owners...) }
	for _, step := range []struct{ verb, manifest, refusal string }{
		{"create", lease("few", 1, 2), ""},
		{"replace", lease("few", 3, 4), ""},
		{"replace", lease("few", 3, 4, 5), tooMany},
		{"replace", lease("few"), ""},
		{"replace", ownedBy("Lease", leases, "full", 21), tooMany},
		{"replace", lease("full", 1, 2, 3, 100), tooMany},
		{"replace", strings.Replace(lease("full", 1, 2, 3), "absent", "other", 1), tooMany},
		{"replace", lease("full", 1, 2, 3), ""},
		{"replace", ownedBy("Lease", leases, "full", 20), tooMany},
	} {
		if err := write("alice", step.verb, step.manifest); step.refusal == "" {
			require.NoError(t, err, step.manifest)
		} else {
			require.ErrorContains(t, err, step.refusal, step.manifest)
		}
	}
	_, stderr, err := controlPlane.KubectlWithInput(ownedBy("Lease", leases, "full", 4), "apply", "--server-side", "--force-conflicts", "--filename=-", "--as=alice", "--namespace="+ns)
	require.Error(t, err)
	require.Contains(t, stderr, tooMany)
	for _, name := range []string{"former", "full"} {
		kubectl(t, "label", "lease", name, "a=b", "--namespace="+ns, "--as=alice")
	}
	// As the garbage collector does, which may write all.
	require.NoError(t, write("may-update", "replace", ownedBy("Lease", leases, "very-many", 1999)))
	require.NoError(t, write("may-create", "create", ownedBy("Lease", leases, "of-a-controller", 30)))
	require.NoError(t, write("may-update", "replace", ownedBy("Lease", leases, "of-a-controller", 40)))
}

// TestReplicasAreBounded: with the component bounded-objects a StatefulSet has no more replicas, and
// no larger ones, than kube-controller-manager has room for.
func TestReplicasAreBounded(t *testing.T) {
	const policy = "../deploy/components/bounded-objects/policy.yaml"
	ns := namespace(t, "replicas")
	// With so many terms, an empty one of which is 4 bytes, and 48 in each Pod.
	writeWith := func(terms int, verb, name string, replicas int, flags ...string) error {
		manifest := fmt.Sprintf(`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: %s}, spec: {replicas: %d, serviceName: a, selector: {matchLabels: {a: b}},
			template: {metadata: {labels: {a: b}}, spec: {nodeSelector: {no: node}, containers: [{name: a, image: a}],
			affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}%s]}}}}}}}`, name, replicas, strings.Repeat(", {}", terms))
		_, stderr, err := controlPlane.KubectlWithInput(manifest, append(flags, verb, "--filename=-", "--namespace="+ns)...)
		if err != nil {
			return fmt.Errorf("%w: %s", err, stderr)
		}
		return nil
	}
	write := func(verb, name string, replicas int, flags ...string) error {
		return writeWith(0, verb, name, replicas, flags...)
	}
	// Another test may have had the policy just before.
	require.Eventually(t, func() bool { return write("create", "former", 1500) == nil }, time.Minute, 200*time.Millisecond)
	require.Eventually(t, func() bool { return writeWith(5000, "create", "large", 10) == nil }, time.Minute, 200*time.Millisecond)
	kubectl(t, "apply", "--filename="+policy)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+policy) })
	const refusal = "a StatefulSet has at most 1000 replicas"
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		err := write("create", "many", 1001, "--dry-run=server")
		return err != nil && strings.Contains(err.Error(), refusal)
	}, time.Minute, 200*time.Millisecond)
	require.ErrorContains(t, write("create", "many", math.MaxInt32), refusal)
	require.NoError(t, write("create", "many", 1000))
	require.ErrorContains(t, write("replace", "many", 1001), refusal)
	scale := func(name string, replicas int) string {
		_, stderr, _ := controlPlane.KubectlWithInput("", "scale", "statefulset", name, fmt.Sprint("--replicas=", replicas), "--namespace="+ns)
		return stderr
	}
	require.Contains(t, scale("many", 1001), refusal)
	require.Empty(t, scale("many", 0))
	require.Empty(t, scale("many", 1000))
	_, stderr, err := controlPlane.KubectlWithInput("", "patch", "statefulset", "many", "--subresource=scale", "--type=merge", `--patch={"spec":{"replicas":2147483647}}`, "--namespace="+ns)
	require.Error(t, err)
	require.Contains(t, stderr, refusal)
	kubectl(t, "label", "statefulset", "former", "c=d", "--namespace="+ns)
	require.Contains(t, scale("former", 1501), refusal)
	require.Empty(t, scale("former", 1499))
	require.NoError(t, write("replace", "former", 1498))

	const tooLarge = "a StatefulSet has at most 1000 entries"
	require.ErrorContains(t, writeWith(1000, "create", "wide", 1), tooLarge)
	require.NoError(t, writeWith(950, "create", "wide", 1))
	require.ErrorContains(t, writeWith(1000, "replace", "wide", 1), tooLarge)
	require.ErrorContains(t, writeWith(5001, "replace", "large", 10), tooLarge)
	require.NoError(t, writeWith(4999, "replace", "large", 20))
	require.Empty(t, scale("large", 1000))
}

// TestPortsOfServicesAreBounded: with the component bounded-objects no user of one namespace gives a
// Service many ports, which the controllers of its endpoints sort for each of its Pods.
func TestPortsOfServicesAreBounded(t *testing.T) {
	const policy = "../deploy/components/bounded-objects/policy.yaml"
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
		_, stderr, err := controlPlane.KubectlWithInput(manifest, append(flags, verb, "--filename=-", "--as="+user, "--as-group=system:authenticated", "--namespace="+ns)...)
		if err != nil {
			return fmt.Errorf("%w: %s", err, stderr)
		}
		return nil
	}
	// Another test may have had the policy just before.
	require.Eventually(t, func() bool { return write("alice", "create", "former", 30) == nil }, time.Minute, 200*time.Millisecond)
	kubectl(t, "apply", "--filename="+policy)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+policy) })
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
	require.NoError(t, write(metacontroller, "create", "of-a-model-box", 50))
	require.NoError(t, write("admin", "create", "of-an-installation", 50, "--as-group=system:masters"))
}

// TestSelectorsAreBounded: with the component bounded-objects nobody has kube-controller-manager read
// thousands of values at each event of a Pod.
func TestSelectorsAreBounded(t *testing.T) {
	const policy = "../deploy/components/bounded-objects/policy.yaml"
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
		_, stderr, err := controlPlane.KubectlWithInput(string(manifest), append(flags, verb, "--filename=-", "--namespace="+ns)...)
		if err != nil {
			return fmt.Errorf("%w: %s", err, stderr)
		}
		return nil
	}
	// Another test may have had the policy just before.
	require.Eventually(t, func() bool { return write("create", "ReplicaSet", "apps/v1", 1, 100) == nil }, time.Minute, 200*time.Millisecond)
	kubectl(t, "apply", "--filename="+policy)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+policy) })
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

// TestEventsAreBounded: no quota counts Events, which users with edit may create.
func TestEventsAreBounded(t *testing.T) {
	const policy = "../deploy/components/bounded-objects/policy.yaml"
	ns := namespace(t, "events")
	kubectl(t, "create", "role", "all", "--verb=*", "--resource=events,events.events.k8s.io", "--namespace="+ns)
	kubectl(t, "create", "rolebinding", "all", "--role=all", "--user=alice", "--namespace="+ns)
	about := `"metadata":{"name":%q%s},`
	old := func(message, more string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Event",`+about+`"involvedObject":{"kind":"Pod","name":"a","namespace":%q},"type":"Normal","reason":"A","message":%q}`,
			fmt.Sprint("a", time.Now().UnixNano()), more, ns, message)
	}
	write := func(user, manifest string, flags ...string) error {
		_, stderr, err := controlPlane.KubectlWithInput(manifest, append(flags, "create", "--filename=-", "--validate=ignore", "--as="+user, "--namespace="+ns)...)
		if err != nil {
			return fmt.Errorf("%w: %s", err, stderr)
		}
		return nil
	}
	kubectl(t, "apply", "--filename="+policy)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+policy) })
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
	newer := func(note, field string) string {
		return fmt.Sprintf(`{"apiVersion":"events.k8s.io/v1","kind":"Event",`+about+`"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"a.b/c","reportingInstance":"a","action":"A","reason":"A","type":"Normal",
			"regarding":{"kind":"Pod","name":"a","namespace":%q,"fieldPath":%q},"note":%q}`, fmt.Sprint("b", time.Now().UnixNano()), "", ns, field, note)
	}
	require.ErrorContains(t, write("alice", newer("a", long)), refusal)
	require.NoError(t, write("alice", newer(long[:1000], "spec")))
	require.NoError(t, write("kubelet", old(long, ""), "--as-group=system:masters"), "which writes Events of all namespaces")
}

// uncounted is what controllers of Kubernetes create, and no quota needs to count: it has no
// namespace, or is as much as what is counted.
var uncounted = []string{
	"endpoints", "persistentvolumes", "volumeattachments.storage.k8s.io",
}

// uncountable is what no quota counts: its size is bounded, see [TestEventsAreBounded].
var uncountable = []string{"events", "events.events.k8s.io"}

// TestQuotaCountsWhatUsersMayCreate: the API server's space is that of all namespaces, and
// 1,280 Leases of 1.4 MB fill it. The quota of docs/security.md counts the objects of every
// kind that an admin of a namespace may create, and of those that Kubernetes' controllers
// create of them: ControllerRevisions of a StatefulSet, as many as its user says, and
// EndpointSlices, one for each number that a port of one name has in its Pods.
func TestQuotaCountsWhatUsersMayCreate(t *testing.T) {
	_, shown, found := strings.Cut(read(t, "../docs/security.md"), "<!-- quota:begin -->\n```yaml\n")
	require.True(t, found)
	shown, _, _ = strings.Cut(shown, "---\n")
	var quota corev1.ResourceQuota
	require.NoError(t, yaml.UnmarshalStrict([]byte(shown), &quota))
	printed, _, err := controlPlane.KubectlWithInput("", "get", "clusterroles", "--output=json")
	require.NoError(t, err)
	var roles rbacv1.ClusterRoleList
	require.NoError(t, json.Unmarshal([]byte(printed), &roles))
	byUsers, byControllers := map[string]bool{}, map[string]bool{}
	for _, role := range roles.Items {
		created := byControllers
		switch {
		case role.Name == "system:aggregate-to-admin", role.Name == "system:aggregate-to-edit": // kube-controller-manager puts admin together
			created = byUsers
		case !strings.HasPrefix(role.Name, "system:controller:"):
			continue
		}
		for _, rule := range role.Rules {
			if !slices.Contains(rule.Verbs, "create") && !slices.Contains(rule.Verbs, "*") {
				continue
			}
			for _, group := range rule.APIGroups {
				for _, plural := range rule.Resources {
					isStored := !strings.Contains(plural, "/") && !slices.Contains([]string{"authorization.k8s.io", "authentication.k8s.io", "*"}, group) && group != "extensions" // the last is no more
					if isStored {
						created[strings.TrimSuffix(plural+"."+group, ".")] = true
					}
				}
			}
		}
	}
	require.NotEmpty(t, byUsers)
	require.Contains(t, byControllers, "controllerrevisions.apps")
	var missing []string
	for _, created := range []map[string]bool{byUsers, byControllers} {
		for name := range created {
			_, isCounted := quota.Spec.Hard[corev1.ResourceName("count/"+name)]
			require.False(t, isCounted && slices.Contains(uncountable, name), name)
			if !isCounted && !slices.Contains(uncountable, name) && (byUsers[name] || !slices.Contains(uncounted, name)) {
				missing = append(missing, name)
			}
		}
	}
	slices.Sort(missing)
	require.Empty(t, slices.Compact(missing))
}
