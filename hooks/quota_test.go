package hooks_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/metacontroller"
)

// documentedQuota returns the first quota that the page on security shows.
func documentedQuota(t *testing.T) corev1.ResourceList {
	page, err := os.ReadFile("../docs/security.md")
	require.NoError(t, err)
	_, shown, found := strings.Cut(string(page), "<!-- quota:begin -->\n```yaml\n")
	require.True(t, found)
	shown, _, _ = strings.Cut(shown, "```")
	shown, _, _ = strings.Cut(shown, "---\n") // another about PriorityClasses
	var quota corev1.ResourceQuota
	require.NoError(t, yaml.UnmarshalStrict([]byte(shown), &quota))
	return quota.Spec.Hard
}

// TestQuotaHasRoomForWhatKubernetesMakes of what it admits: of each workload ten former
// templates beside the newest, and of a Service an EndpointSlice for each hundred Pods.
func TestQuotaHasRoomForWhatKubernetesMakes(t *testing.T) {
	quota := documentedQuota(t)
	count := func(name corev1.ResourceName) int64 {
		quantity, ok := quota["count/"+name]
		require.True(t, ok, name)
		return quantity.Value()
	}
	require.GreaterOrEqual(t, count("replicasets.apps"), 11*count("deployments.apps"))
	require.GreaterOrEqual(t, count("controllerrevisions.apps"), 11*(count("statefulsets.apps")+count("daemonsets.apps")))
	require.GreaterOrEqual(t, count("endpointslices.discovery.k8s.io"), count("services")*((count("pods")+99)/100))
	require.GreaterOrEqual(t, count("deployments.apps"), count("modelboxes.model.github.com")+11*count("dataservices.d3os-product.com.d3os"))
}

// TestDocumentedQuotaNamesEveryKind: Metacontroller is shared by all namespaces,
// and the quota that the page on security shows bounds each kind that it caches.
func TestDocumentedQuotaNamesEveryKind(t *testing.T) {
	quota := documentedQuota(t)
	requireBounded := func(plural, group string) {
		plural, _, _ = strings.Cut(plural, "/") // without a subresource
		name := corev1.ResourceName(strings.TrimSuffix("count/"+plural+"."+group, "."))
		_, isBounded := quota[name]
		require.True(t, isBounded, "the quota in docs/security.md has no %s: write how many a namespace may have", name)
	}
	// It has what Metacontroller caches only with TLS, or where it was installed in another way.
	manifest, err := os.ReadFile("../deploy/components/bounded-objects/policy.yaml")
	require.NoError(t, err)
	manifest, _, _ = bytes.Cut(manifest, []byte("\n---\n"))
	var policy admissionregistrationv1.ValidatingAdmissionPolicy
	require.NoError(t, yaml.UnmarshalStrict(manifest, &policy))
	require.NotEmpty(t, policy.Spec.MatchConstraints.ResourceRules)
	for _, rule := range policy.Spec.MatchConstraints.ResourceRules {
		for _, plural := range rule.Resources {
			requireBounded(plural, rule.APIGroups[0])
		}
	}
	for _, controller := range hooks.All() {
		cached := append([]metacontroller.Resource{controller.Parent}, controller.Related...)
		for _, child := range controller.Children {
			cached = append(cached, child.Resource)
		}
		for _, resource := range cached {
			requireBounded(resource.Plural, resource.Group())
		}
	}
}
