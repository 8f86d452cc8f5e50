package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// TestHelmChart installs the chart with the command of docs/install.md, upgrades it with another
// CRD, with fewer kinds, and uninstalls it: custom resources stay. What kubectl has installed
// becomes Helm's.
func TestHelmChart(t *testing.T) {
	c, err := cluster.Start(t.Context(), cluster.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop()) })
	kubectl := func(args ...string) string {
		t.Helper()
		stdout, _, err := c.Kubectl(args...)
		require.NoError(t, err)
		return strings.TrimSpace(stdout)
	}
	kubectl("apply", "--filename=cluster/standin-crds.yaml")
	kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
	kubectl("apply", "--filename=../deploy/namespace.yaml")
	helm, err := exec.Command("go", "-C", "../release", "tool", "-n", "helm").Output()
	require.NoError(t, err)
	home := t.TempDir()
	tryHelm := func(args string) (string, error) {
		command := exec.Command("sh", "-c", "exec "+strings.TrimSpace(string(helm))+args)
		command.Dir = ".."
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "KUBECONFIG=" + c.Kubeconfig}
		output, err := command.CombinedOutput()
		return string(output), err
	}
	run := func(args string) string {
		t.Helper()
		output, err := tryHelm(args)
		require.NoError(t, err, output)
		return output
	}
	controllers := func() string {
		return kubectl("get", "compositecontrollers", "--output=jsonpath={.items[*].metadata.name}")
	}
	uid := func() string { return kubectl("get", "podsets", "kept", "--output=jsonpath={.metadata.uid}") }

	page, err := os.ReadFile("../docs/install.md")
	require.NoError(t, err)
	shown := regexp.MustCompile(`(?m)^helm( upgrade --install operetta (?:.*\\\n)*.*)$`).FindStringSubmatch(string(page))
	require.NotNil(t, shown)
	install := shown[1]
	require.Contains(t, install, "--set 'kinds={build,podset}'")
	run(install)
	require.Equal(t, "operetta-build operetta-podset", controllers())
	require.Equal(t, "registry.example.com/operetta", strings.Split(kubectl("get", "deployment", "operetta", "--namespace=operetta-system",
		"--output=jsonpath={.spec.template.spec.containers[0].image}"), ":")[0])
	kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
	_, stderr, err := c.KubectlWithInput(`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: kept}, spec: {size: 1}}`, "apply", "--filename=-")
	require.NoError(t, err, stderr)
	first := uid()

	// A newer chart, with another CRD.
	newer := filepath.Join(t.TempDir(), "operetta")
	output, err := exec.Command("cp", "-rL", "../deploy/charts/operetta", newer).CombinedOutput()
	require.NoError(t, err, "%s", output)
	crd := filepath.Join(newer, "files/crds/podset.yaml")
	text, err := os.ReadFile(crd)
	require.NoError(t, err)
	changed := strings.Replace(string(text), "shortNames:", "categories:\n    - newer\n    shortNames:", 1)
	if strings.Contains(string(text), "categories:\n") {
		changed = strings.Replace(string(text), "categories:\n", "categories:\n    - newer\n", 1)
	}
	require.NotEqual(t, string(text), changed)
	require.NoError(t, os.WriteFile(crd, []byte(changed), 0o600))
	run(strings.Replace(install, "deploy/charts/operetta", newer, 1))
	require.Contains(t, kubectl("get", "crd", "podsets.apps.jicki.cn", "--output=jsonpath={.spec.names.categories}"), "newer")
	require.Equal(t, first, uid())

	// Fewer kinds, and none.
	run(strings.Replace(install, "{build,podset}", "{build}", 1))
	require.Equal(t, "operetta-build", controllers())
	require.Equal(t, first, uid(), "the CRD stays, and with it the custom resource")
	run(" uninstall operetta --namespace operetta-system --wait")
	require.Empty(t, controllers())
	require.Empty(t, kubectl("get", "deployments", "--namespace=operetta-system", "--output=name"))
	require.Equal(t, first, uid())

	// What kubectl has applied becomes Helm's.
	kubectl("apply", "--kustomize=../deploy")
	refused, err := tryHelm(strings.Replace(install, " --set 'kinds={build,podset}'", "", 1))
	require.Error(t, err)
	require.Contains(t, refused, "invalid ownership metadata")
	run(strings.Replace(install, " --set 'kinds={build,podset}'", " --take-ownership --force-conflicts", 1))
	all, err := crdFiles()
	require.NoError(t, err)
	require.Len(t, strings.Fields(controllers()), len(all))
	require.Equal(t, first, uid())
}
