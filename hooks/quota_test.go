package hooks_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
)

// TestDocumentedQuotaNamesEveryKind: Metacontroller is shared by all namespaces,
// and the quota that the page on security shows bounds each kind.
func TestDocumentedQuotaNamesEveryKind(t *testing.T) {
	page, err := os.ReadFile("../docs/security.md")
	require.NoError(t, err)
	_, shown, found := strings.Cut(string(page), "<!-- quota:begin -->\n```yaml\n")
	require.True(t, found)
	shown, _, _ = strings.Cut(shown, "```")
	var quota corev1.ResourceQuota
	require.NoError(t, yaml.UnmarshalStrict([]byte(shown), &quota))
	require.Contains(t, quota.Spec.Hard, corev1.ResourceName("count/configmaps"))
	for _, controller := range hooks.All() {
		require.Contains(t, quota.Spec.Hard, corev1.ResourceName("count/"+controller.Parent.Plural+"."+controller.Parent.Group()))
	}
}
