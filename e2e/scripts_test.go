package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnotherApplyStrategy runs what docs/upgrade.md says to run before Metacontroller
// changes from dynamic-apply to server-side apply, and wants to see removed what is no
// longer applied, also where the change has been made without that, and nothing else.
func TestAnotherApplyStrategy(t *testing.T) {
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
		// What others have: an annotation that kubectl writes anew, and a number that jq rounds.
		kubectl(t, "patch", "deployment/web", "--namespace="+ns, `--patch={"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}\n"}},"spec":{"template":{"spec":{"terminationGracePeriodSeconds":9007199254740993}}}}`)
		if isLate {
			applyOnServer(t, ns, after)
			require.Equal(t, `web sidecar A B {"app.kubernetes.io/managed-by":"operetta","old":"label","other":"label"} 3`, content(), "server-side apply removes nothing")
		}
		before := kubectl(t, "get", "deployment/web", "--namespace="+ns, "--output=json")
		require.Equal(t, "deployment.apps/web patched\n", changeStrategy(t, ns))
		version := regexp.MustCompile(`"resourceVersion": "\d+"`)
		require.Equal(t, version.ReplaceAllString(before, ""), version.ReplaceAllString(kubectl(t, "get", "deployment/web", "--namespace="+ns, "--output=json"), ""), "nothing but the managed fields")
		require.Empty(t, changeStrategy(t, ns), "there is nothing left to change")

		applyOnServer(t, ns, after)
		require.Equal(t, gone, content())
		kubectl(t, "delete", "deployment/web", "--namespace="+ns)
	}
}

// TestAnotherApplyStrategyTakesNoOrders: who runs that is an administrator of the cluster, and
// names of Roles and RoleBindings may have lines, and look like options.
func TestAnotherApplyStrategyTakesNoOrders(t *testing.T) {
	ns, other := namespace(t, "switch-hostile"), namespace(t, "switch-victim")
	create := func(ns, name string) {
		t.Helper()
		object, err := json.Marshal(map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
			"metadata": map[string]any{"name": name, "labels": map[string]any{"app.kubernetes.io/managed-by": "operetta"}},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
		})
		require.NoError(t, err)
		_, stderr, err := controlPlane.KubectlWithInput(string(object), "create", "--filename=-", "--field-manager=metacontroller", "--namespace="+ns)
		require.NoError(t, err, stderr)
	}
	create(other, "victim")
	before := kubectl(t, "get", "rolebindings", "--namespace="+other, "--output=json", "--show-managed-fields")
	order := ` [{"op":"add","path":"\u002fsubjects","value":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"mallory"}]}]`
	hostile := []string{
		"x\n" + other + " victim" + order + "\ny", "--filename=x", "-A", "$(touch x)", "`touch x`", "'; touch x; '", "\\u0022 \\n", `"`, "a\tb", "*",
	}
	for _, name := range hostile {
		create(ns, name)
	}
	_, _, err := controlPlane.KubectlWithInput(`{apiVersion: v1, kind: ConfigMap, metadata: {name: bare, labels: {app.kubernetes.io/managed-by: operetta}}}`, "create", "--filename=-", "--namespace="+ns)
	require.NoError(t, err)
	kubectl(t, "patch", "configmap/bare", "--namespace="+ns, "--type=merge", `--patch={"metadata":{"managedFields":[{}]}}`)

	output := changeStrategy(t, ns)
	require.Equal(t, len(hostile), strings.Count(output, " patched\n"), output)
	require.Equal(t, before, kubectl(t, "get", "rolebindings", "--namespace="+other, "--output=json", "--show-managed-fields"))
	require.Equal(t, strings.TrimSpace(strings.Repeat("Apply ", len(hostile))),
		kubectl(t, "get", "rolebindings", "--namespace="+ns, "--show-managed-fields", "--output=jsonpath={.items[*].metadata.managedFields[*].operation}"))
}

// changeStrategy runs what docs/upgrade.md shows for the change, in one namespace instead of all, and
// returns what it prints.
func changeStrategy(t *testing.T, ns string) string {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq is not installed")
	}
	_, shown, found := strings.Cut(read(t, "../docs/upgrade.md"), "<!-- switch:begin -->\n```sh\n")
	require.True(t, found)
	shown, _, found = strings.Cut(shown, "```\n<!-- switch:end -->")
	require.True(t, found)
	const all = "$(kubectl get namespaces --output=jsonpath='{.items[*].metadata.name}')"
	require.Contains(t, shown, all)
	bin := t.TempDir()
	require.NoError(t, os.Symlink(controlPlane.KubectlPath(), filepath.Join(bin, "kubectl")))
	command := exec.Command("bash", "-euo", "pipefail", "-c", strings.ReplaceAll(shown, all, ns))
	command.Dir = t.TempDir()
	command.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBECONFIG=" + controlPlane.Kubeconfig}
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	files, err := os.ReadDir(command.Dir)
	require.NoError(t, err)
	require.Empty(t, files)
	return string(output)
}
