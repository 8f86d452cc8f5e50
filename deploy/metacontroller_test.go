package deploy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
)

// admits reports whether a rule of a NetworkPolicy admits a Pod of a namespace.
func admits(t *testing.T, rule networkingv1.NetworkPolicyIngressRule, namespace, pod labels.Set) bool {
	t.Helper()
	matches := func(selector *metav1.LabelSelector, set labels.Set) bool {
		s, err := metav1.LabelSelectorAsSelector(selector)
		require.NoError(t, err)
		return s.Matches(set)
	}
	require.NotEmpty(t, rule.From, "it admits everybody")
	for _, peer := range rule.From {
		require.NotNil(t, peer.NamespaceSelector)
		if matches(peer.NamespaceSelector, namespace) && (peer.PodSelector == nil || matches(peer.PodSelector, pod)) {
			return true
		}
	}
	return false
}

// The server answers Metacontroller's Pods: not whatever else runs beside them,
// and not a Pod that is labelled like them elsewhere.
func TestTheServerAdmitsMetacontrollersPodsOnly(t *testing.T) {
	pods := labels.Set(read[appsv1.StatefulSet](t, "metacontroller/statefulset.yaml").Spec.Template.Labels)
	require.NotEmpty(t, pods)
	home := labels.Set{corev1.LabelMetadataName: manifests.Operetta().Metacontroller}
	elsewhere := labels.Set{corev1.LabelMetadataName: "elsewhere"}
	scraped := labels.Set{corev1.LabelMetadataName: "monitoring", "metrics": "enabled"}
	other := labels.Set{"app.kubernetes.io/name": "other"}

	policies := readAll[networkingv1.NetworkPolicy](t, "server/networkpolicy.yaml")
	rules := policies[len(policies)-1].Spec.Ingress
	require.Len(t, rules, 2)
	hooks, metrics := rules[0], rules[1]
	require.EqualValues(t, 8080, hooks.Ports[0].Port.IntValue())
	require.True(t, admits(t, hooks, home, pods))
	require.False(t, admits(t, hooks, home, other))
	require.False(t, admits(t, hooks, elsewhere, pods))
	require.False(t, admits(t, hooks, scraped, pods))
	require.True(t, admits(t, metrics, scraped, other))
	require.False(t, admits(t, metrics, home, pods))

	own := read[networkingv1.NetworkPolicy](t, "metacontroller/networkpolicy.yaml")
	require.Equal(t, manifests.Operetta().Metacontroller, own.Namespace)
	require.Empty(t, own.Spec.PodSelector)
	require.Len(t, own.Spec.Ingress, 1)
	require.True(t, admits(t, own.Spec.Ingress[0], scraped, other))
	require.False(t, admits(t, own.Spec.Ingress[0], elsewhere, other))
}

// Whoever may create a Pod beside Metacontroller's may act as it. Pod Security
// holds for both namespaces alike.
func TestBothNamespacesEnforceTheRestrictedStandard(t *testing.T) {
	ours := read[corev1.Namespace](t, "namespace.yaml")
	theirs := read[corev1.Namespace](t, "metacontroller/namespace.yaml")
	require.Equal(t, manifests.Operetta().Metacontroller, theirs.Name)
	require.Equal(t, "restricted", theirs.Labels["pod-security.kubernetes.io/enforce"])
	require.Equal(t, ours.Labels, theirs.Labels)
}

// What people get by way of Kubernetes' own roles is the custom resources of our
// kinds: whoever may view may write nothing, whoever may edit nothing that passes
// permissions on, and nobody a status.
func TestAggregatedRolesGiveTheKindsOnly(t *testing.T) {
	require.Contains(t, read[kustomization](t, "metacontroller/kustomization.yaml").Patches[0].Path, "aggregated.yaml")
	removed, err := os.ReadFile("metacontroller/aggregated.yaml")
	require.NoError(t, err)
	require.Contains(t, string(removed), "\n  name: aggregate-metacontroller-edit\n$patch: delete\n")

	paths, err := filepath.Glob("rbac/*.yaml")
	require.NoError(t, err)
	count := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, document := range strings.Split(string(text), "\n---\n") {
			var role rbacv1.ClusterRole
			require.NoError(t, yaml.Unmarshal([]byte(document), &role))
			if len(role.Labels) == 0 {
				continue
			}
			count++
			kind := strings.TrimSuffix(filepath.Base(path), ".yaml")
			for _, rule := range role.Rules {
				for _, resource := range rule.Resources {
					require.True(t, strings.HasPrefix(resource, strings.TrimSuffix(kind, "x")), "%s: %s", path, resource)
					if strings.HasSuffix(resource, "/status") || role.Labels["rbac.authorization.k8s.io/aggregate-to-view"] != "" {
						require.Subset(t, []string{"get", "list", "watch"}, rule.Verbs, "%s: %s", path, resource)
					}
				}
			}
			if kind == "podbuggertool" && strings.HasSuffix(role.Name, "-edit") {
				require.Equal(t, map[string]string{"rbac.authorization.k8s.io/aggregate-to-admin": "true"}, role.Labels)
			}
		}
	}
	require.Equal(t, 2*len(hooks.All()), count)
}
