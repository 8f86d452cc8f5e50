package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUninstall runs after all but [TestUpgradeAndRollback], which installs everything
// itself: it installs deploy/ with one command, and uninstalls it with the commands of the
// README.
func TestUninstall(t *testing.T) {
	w := newWorld(t, start(t, modes[0], operetta.HookURL))
	kubectl := func(args ...string) string {
		stdout, _, err := operetta.Kubectl(args...)
		require.NoError(t, err)
		return stdout
	}
	kubectl("apply", "--kustomize="+root+"/deploy")
	require.NoError(t, operetta.Connect(operetta.HookURL, "v2")) // the Service has no Pods that serve
	w.apply(modelBox(`image: "nginx:1", replicas: 1, ports: [{port: 80}]`))
	w.apply(smallProduct)
	w.ready("modelbox/box", "dataservice/small")

	_, shown, found := strings.Cut(read(t, root+"/docs/install.md"), "<!-- uninstall:begin -->\n```sh\n")
	require.True(t, found)
	commands := strings.Split(strings.ReplaceAll(shown, "\\\n", ""), "\n")
	require.Equal(t, "kubectl delete --ignore-not-found -k deploy/", commands[2])
	for _, command := range commands[:2] {
		kubectl(append(strings.Fields(command)[1:], "--timeout="+patience.String())...)
	}
	kubectl("delete", "--ignore-not-found", "--kustomize="+root+"/deploy", "--timeout="+patience.String())
	for _, crd := range strings.Fields(kubectl("get", "crds", "--output=name")) {
		require.Contains(t, crd, "metacontroller.k8s.io", "it is left behind")
	}
	w.eventually("all children are deleted", func() error {
		left := w.uids("pods,jobs,deployments,statefulsets,services")
		if len(left) > 0 {
			return fmt.Errorf("these still exist: %v", left)
		}
		return nil
	})
	kubectl("delete", "namespace", w.ns, "--timeout="+patience.String())
	require.Empty(t, kubectl("get", "clusterroles", "--selector=app.kubernetes.io/part-of=operetta", "--output=name"))
}
