package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnotherApplyStrategy runs what docs/operations.md says to run before Metacontroller
// changes from dynamic-apply to server-side apply, and wants to see removed what is no
// longer applied, also where the change has been made without that, and nothing else.
func TestAnotherApplyStrategy(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq is not installed")
	}
	_, shown, found := strings.Cut(read(t, "../docs/operations.md"), "<!-- switch:begin -->\n```sh\n")
	require.True(t, found)
	shown, _, found = strings.Cut(shown, "```\n<!-- switch:end -->")
	require.True(t, found)
	ns := namespace(t, "switch")
	const (
		head     = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {app.kubernetes.io/managed-by: operetta`
		selector = `, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: web, image: web`
		before   = head + `, old: label}}` + selector + `, env: [{name: A, value: a}, {name: B, value: b}]}, {name: sidecar, image: s}]}}}}`
		after    = head + `}}` + selector + `, env: [{name: A, value: a}]}]}}}}`
	)
	content := func() string {
		return kubectl(t, "get", "deployment/web", "--namespace="+ns, `--output=jsonpath={.spec.template.spec.containers[*].name} {.spec.template.spec.containers[0].env[*].name} {.metadata.labels} {.spec.replicas}`)
	}
	const gone = `web A {"app.kubernetes.io/managed-by":"operetta","other":"label"} 3`
	for _, isLate := range []bool{false, true} {
		_, _, err := controlPlane.KubectlWithInput(before, "create", "--filename=-", "--field-manager=metacontroller", "--namespace="+ns)
		require.NoError(t, err)
		kubectl(t, "label", "deployment/web", "other=label", "--namespace="+ns)
		kubectl(t, "scale", "deployment/web", "--replicas=3", "--namespace="+ns)
		if isLate {
			applyOnServer(t, ns, after)
			require.Equal(t, `web sidecar A B {"app.kubernetes.io/managed-by":"operetta","old":"label","other":"label"} 3`, content(), "server-side apply removes nothing")
		}
		command := exec.Command("bash", "-euo", "pipefail", "-c", strings.ReplaceAll(shown, "--all-namespaces", "--namespace="+ns))
		command.Env = []string{"PATH=" + pathWithKubectl(t) + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBECONFIG=" + controlPlane.Kubeconfig}
		output, err := command.CombinedOutput()
		require.NoError(t, err, string(output))
		require.Equal(t, "deployment.apps/web patched\n", string(output))
		again := exec.Command(command.Path, command.Args[1:]...)
		again.Env = command.Env
		output, err = again.CombinedOutput()
		require.NoError(t, err, string(output))
		require.Empty(t, string(output), "there is nothing left to change")

		applyOnServer(t, ns, after)
		require.Equal(t, gone, content())
		kubectl(t, "delete", "deployment/web", "--namespace="+ns)
	}
}

// pathWithKubectl returns a folder with the control plane's kubectl.
func pathWithKubectl(t *testing.T) string {
	folder := t.TempDir()
	require.NoError(t, os.Symlink(controlPlane.KubectlPath(), filepath.Join(folder, "kubectl")))
	return folder
}
