package hooks_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
	var quota corev1.ResourceQuota
	require.NoError(t, yaml.UnmarshalStrict([]byte(shown), &quota))
	for _, controller := range hooks.All() {
		cached := []metacontroller.Resource{controller.Parent}
		for _, related := range controller.Related {
			cached = append(cached, related.Resource)
		}
		for _, child := range controller.Children {
			cached = append(cached, child.Resource)
		}
		for _, resource := range cached {
			name := corev1.ResourceName(strings.TrimSuffix("count/"+resource.Plural+"."+resource.Group(), "."))
			require.Contains(t, quota.Spec.Hard, name, "the quota in docs/security.md lacks it: write how many a namespace may have")
		}
	}
}
