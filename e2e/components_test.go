package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestAnExistingMetacontrollerIsNamedEverywhere renders deploy/ with the component for a
// cluster that already has a Metacontroller.
func TestAnExistingMetacontrollerIsNamedEverywhere(t *testing.T) {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	dir := t.TempDir()
	relative, err := filepath.Rel(dir, root)
	require.NoError(t, err)
	own := "resources:\n- " + relative + "/deploy\ncomponents:\n- " + relative + "/deploy/components/existing-metacontroller\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(own), 0o600))
	rendered, _, err := controlPlane.Kubectl("kustomize", dir)
	require.NoError(t, err)
	bindings, policies := 0, 0
	for _, document := range strings.Split(rendered, "\n---\n") {
		var binding rbacv1.ClusterRoleBinding
		require.NoError(t, yaml.Unmarshal([]byte(document), &binding))
		switch {
		case binding.Kind == "ClusterRoleBinding":
			bindings++
			require.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: "metacontroller-helm", Namespace: "metacontroller-system"}}, binding.Subjects, binding.Name)
		case binding.Kind == "NetworkPolicy" && binding.Name == "operetta":
			policies++
			var policy networkingv1.NetworkPolicy
			require.NoError(t, yaml.Unmarshal([]byte(document), &policy))
			from := policy.Spec.Ingress[0].From[0]
			require.Equal(t, map[string]string{"kubernetes.io/metadata.name": "metacontroller-system"}, from.NamespaceSelector.MatchLabels)
			require.Equal(t, map[string]string{"app.kubernetes.io/name": "metacontroller-helm"}, from.PodSelector.MatchLabels)
		}
	}
	require.Equal(t, len(atTheTerminal), bindings)
	require.Equal(t, 1, policies)
}
