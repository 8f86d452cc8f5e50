package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShortNamesOfKubernetes compares the short names that a new kind cannot have with those
// of kubectl api-resources: NAME SHORTNAMES APIVERSION NAMESPACED KIND, of which the second
// column is mostly empty.
func TestShortNamesOfKubernetes(t *testing.T) {
	served := map[string]string{}
	for line := range strings.Lines(kubectl(t, "api-resources", "--no-headers")) {
		columns := strings.Fields(line)
		if len(columns) != 5 || !isOfKubernetes(columns[2]) {
			continue
		}
		for name := range strings.SplitSeq(columns[1], ",") {
			served[name] = columns[0]
		}
	}
	require.Greater(t, len(served), 20)
	text, err := os.ReadFile("../internal/crd/shortnames.txt")
	require.NoError(t, err)
	known := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, plural, _ := strings.Cut(strings.TrimSpace(line), " ")
		known[name] = plural
	}
	for name, plural := range served {
		require.Equal(t, plural, known[name], name)
	}
}

// TestClusterKindsOfKubernetes looks for the kinds that are cluster-scoped in the list of those that cannot
// be children of a parent in a namespace.
func TestClusterKindsOfKubernetes(t *testing.T) {
	text, err := os.ReadFile("../internal/crd/clusterkinds.txt")
	require.NoError(t, err)
	known := strings.Fields(string(text))
	var namespaced, cluster []string
	for line := range strings.Lines(kubectl(t, "api-resources", "--no-headers")) {
		columns := strings.Fields(line)
		apiVersion, isNamespaced, kind := columns[len(columns)-3], columns[len(columns)-2], columns[len(columns)-1]
		if !isOfKubernetes(apiVersion) {
			continue
		}
		if group, _, hasGroup := strings.Cut(apiVersion, "/"); hasGroup {
			kind += "." + group
		}
		if isNamespaced == "true" {
			namespaced = append(namespaced, kind)
		} else {
			cluster = append(cluster, kind)
		}
	}
	require.Greater(t, len(cluster), 20)
	require.Subset(t, known, cluster)
	for _, kind := range namespaced {
		require.NotContains(t, known, kind)
	}
}

// isOfKubernetes reports whether an API group is one of Kubernetes: without a domain, or
// below k8s.io.
func isOfKubernetes(apiVersion string) bool {
	group, _, hasGroup := strings.Cut(apiVersion, "/")
	return !hasGroup || !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}
