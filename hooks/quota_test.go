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

// TestDocumentedQuotaNamesEveryKind: Metacontroller is shared by all namespaces,
// and the quota that the page on security shows bounds each kind that it caches.
func TestDocumentedQuotaNamesEveryKind(t *testing.T) {
	page, err := os.ReadFile("../docs/security.md")
	require.NoError(t, err)
	_, shown, found := strings.Cut(string(page), "<!-- quota:begin -->\n```yaml\n")
	require.True(t, found)
	shown, _, _ = strings.Cut(shown, "```")
	shown, _, _ = strings.Cut(shown, "---\n") // another about PriorityClasses
	var quota corev1.ResourceQuota
	require.NoError(t, yaml.UnmarshalStrict([]byte(shown), &quota))
	requireBounded := func(plural, group string) {
		plural, _, _ = strings.Cut(plural, "/") // without a subresource
		name := corev1.ResourceName(strings.TrimSuffix("count/"+plural+"."+group, "."))
		_, isBounded := quota.Spec.Hard[name]
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
