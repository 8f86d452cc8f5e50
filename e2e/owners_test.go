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
	ns := namespace(t, "owners")
	kubectl(t, "create", "role", "all", "--verb=*", "--resource=configmaps,endpoints,serviceaccounts,roles.rbac.authorization.k8s.io,leases.coordination.k8s.io", "--namespace="+ns)
	kubectl(t, "create", "rolebinding", "all", "--role=all", "--user=alice", "--namespace="+ns)
	for _, verb := range []string{"create", "update"} { // in all namespaces
		kubectl(t, "create", "clusterrole", "may-"+verb, "--verb="+verb+",get", "--resource=leases.coordination.k8s.io")
		kubectl(t, "create", "clusterrolebinding", "may-"+verb, "--clusterrole=may-"+verb, "--user=may-"+verb)
		t.Cleanup(func() { kubectl(t, "delete", "clusterrole,clusterrolebinding", "may-"+verb) })
	}
	write := func(user, verb, manifest string) error {
		return send(manifest, verb, "--filename=-", "--validate=ignore", "--as="+user, "--namespace="+ns)
	}
	const leases = "coordination.k8s.io/v1"
	// Another test may have had the policy just before.
	require.Eventually(t, func() bool { return write("alice", "create", ownedBy("Lease", leases, "former", 30)) == nil }, time.Minute, 200*time.Millisecond)
	require.NoError(t, write("alice", "create", ownedBy("Lease", leases, "full", 20)))
	require.NoError(t, write("alice", "create", ownedBy("Lease", leases, "very-many", 2000)))
	kubectl(t, "apply", "--filename="+boundedObjects)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+boundedObjects) })
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
	ns := namespace(t, "replicas")
	// With so many terms, an empty one of which is 4 bytes, and 48 in each Pod.
	writeWith := func(terms int, verb, name string, replicas int, flags ...string) error {
		manifest := fmt.Sprintf(`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: %s}, spec: {replicas: %d, serviceName: a, selector: {matchLabels: {a: b}},
			template: {metadata: {labels: {a: b}}, spec: {nodeSelector: {no: node}, containers: [{name: a, image: a}],
			affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}%s]}}}}}}}`, name, replicas, strings.Repeat(", {}", terms))
		return send(manifest, append(flags, verb, "--filename=-", "--namespace="+ns)...)
	}
	write := func(verb, name string, replicas int, flags ...string) error {
		return writeWith(0, verb, name, replicas, flags...)
	}
	// Another test may have had the policy just before.
	require.Eventually(t, func() bool { return write("create", "former", 1500) == nil }, time.Minute, 200*time.Millisecond)
	require.Eventually(t, func() bool { return writeWith(5000, "create", "large", 10) == nil }, time.Minute, 200*time.Millisecond)
	kubectl(t, "apply", "--filename="+boundedObjects)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+boundedObjects) })
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
