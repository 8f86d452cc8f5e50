package e2e

import (
	"encoding/json"
	"fmt"
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
	var owners []string
	for i := range count {
		owners = append(owners, absentOwner(i))
	}
	return `{"apiVersion":"` + apiVersion + `","kind":"` + kind + `","metadata":{"name":"` + name + `","ownerReferences":[` + strings.Join(owners, ",") + `]}}`
}

// TestOwnersAreBounded: with the component bounded-objects no object of any kind has
// thousands of owners, with which the garbage collector is late for the whole cluster.
func TestOwnersAreBounded(t *testing.T) {
	const policy = "../deploy/components/bounded-objects/policy.yaml"
	ns := namespace(t, "owners")
	create := func(kind, apiVersion, name string, owners int) error {
		_, stderr, err := controlPlane.KubectlWithInput(ownedBy(kind, apiVersion, name, owners), "create", "--filename=-", "--namespace="+ns)
		if err != nil {
			return fmt.Errorf("%w: %s", err, stderr)
		}
		return nil
	}
	const leases = "coordination.k8s.io/v1"
	// Another test may have had the policy just before.
	require.Eventually(t, func() bool { return create("Lease", leases, "former", 30) == nil }, time.Minute, 200*time.Millisecond)
	kubectl(t, "apply", "--filename="+policy)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+policy) })
	const message = "at most 20 owners"
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		err := create("Lease", leases, fmt.Sprint("a", time.Now().UnixNano()), 21)
		return err != nil && strings.Contains(err.Error(), message)
	}, time.Minute, 200*time.Millisecond)
	for kind, apiVersion := range map[string]string{"ConfigMap": "v1", "Endpoints": "v1", "ServiceAccount": "v1", "Role": "rbac.authorization.k8s.io/v1"} {
		require.ErrorContains(t, create(kind, apiVersion, "many", 21), message, kind)
	}
	require.NoError(t, create("Lease", leases, "few", 20))
	require.NoError(t, create("ConfigMap", "v1", "few", 20))
	_, stderr, err := controlPlane.KubectlWithInput(ownedBy("Lease", leases, "few", 21), "apply", "--server-side", "--force-conflicts", "--filename=-", "--namespace="+ns)
	require.Error(t, err)
	require.Contains(t, stderr, message)
	kubectl(t, "label", "lease", "former", "a=b", "--namespace="+ns)
}

// TestQuotaCountsWhatUsersMayCreate: the API server's space is that of all namespaces, and
// 1,280 Leases of 1.4 MB fill it. The quota of docs/security.md counts the objects of every
// kind that an admin of a namespace may create.
func TestQuotaCountsWhatUsersMayCreate(t *testing.T) {
	_, shown, found := strings.Cut(read(t, "../docs/security.md"), "<!-- quota:begin -->\n```yaml\n")
	require.True(t, found)
	shown, _, _ = strings.Cut(shown, "---\n")
	var quota corev1.ResourceQuota
	require.NoError(t, yaml.UnmarshalStrict([]byte(shown), &quota))
	var rules []rbacv1.PolicyRule // of the ClusterRole admin, which kube-controller-manager puts together
	for _, name := range []string{"system:aggregate-to-admin", "system:aggregate-to-edit"} {
		printed, _, err := controlPlane.KubectlWithInput("", "get", "clusterrole", name, "--output=json")
		require.NoError(t, err)
		var role rbacv1.ClusterRole
		require.NoError(t, json.Unmarshal([]byte(printed), &role))
		require.NotEmpty(t, role.Rules)
		rules = append(rules, role.Rules...)
	}
	var missing []string
	for _, rule := range rules {
		if !slices.Contains(rule.Verbs, "create") && !slices.Contains(rule.Verbs, "*") {
			continue
		}
		for _, group := range rule.APIGroups {
			for _, plural := range rule.Resources {
				name := strings.TrimSuffix("count/"+plural+"."+group, ".")
				isStored := !strings.Contains(plural, "/") && group != "authorization.k8s.io" && group != "extensions" // the latter is no more
				if _, isCounted := quota.Spec.Hard[corev1.ResourceName(name)]; isStored && !isCounted {
					missing = append(missing, name)
				}
			}
		}
	}
	slices.Sort(missing)
	require.Empty(t, slices.Compact(missing))
}
