// Package e2e tests Operetta the way people use it: with the built binary and
// kubectl against a real control plane.
package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// controlPlane is the cluster that the tests of this package share.
var controlPlane *cluster.Cluster

// auditPolicy records who did what to config maps.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: Metadata, omitStages: [RequestReceived], resources: [{resources: [configmaps]}]}
- {level: None}
`

func TestMain(m *testing.M) {
	if err := cluster.Build(context.Background(), ".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	options := cluster.Options{AuditPolicy: auditPolicy}
	os.Exit(cluster.RunTests(m, options, func(c *cluster.Cluster) error {
		controlPlane = c
		return prepare()
	}))
}

// kubectl runs a command that has to succeed and returns its output.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	stdout, _, err := controlPlane.Kubectl(args...)
	require.NoError(t, err)
	return stdout
}

func TestControlPlaneIsReady(t *testing.T) {
	require.Equal(t, "ok", kubectl(t, "get", "--raw=/readyz"))
}

func TestControlPlaneReportsReleaseVersion(t *testing.T) {
	output := kubectl(t, "version")
	require.Regexp(t, `(?m)^Client Version: v1\.[0-9]+\.[0-9]+$`, output)
	require.Regexp(t, `(?m)^Server Version: v1\.[0-9]+\.[0-9]+$`, output)
}

func TestControlPlaneStoresAppliedObject(t *testing.T) {
	const manifest = `{apiVersion: v1, kind: ConfigMap, metadata: {name: greeting}, data: {text: hello}}`
	get := []string{"get", "configmap", "greeting", "--output=jsonpath={.data.text}"}

	stdout, _, err := controlPlane.KubectlWithInput(manifest, "apply", "--dry-run=server", "--filename=-")
	require.NoError(t, err)
	require.Equal(t, "configmap/greeting created (server dry run)\n", stdout)
	_, stderr, err := controlPlane.Kubectl(get...)
	require.Error(t, err, "a dry run must not store anything")
	require.Contains(t, stderr, "NotFound")

	stdout, _, err = controlPlane.KubectlWithInput(manifest, "apply", "--filename=-")
	require.NoError(t, err)
	t.Cleanup(func() { kubectl(t, "delete", "configmap", "greeting") })
	require.Equal(t, "configmap/greeting created\n", stdout)
	require.Equal(t, "hello", kubectl(t, get...))
}

func TestControlPlaneChecksPermissions(t *testing.T) {
	require.Equal(t, "yes\n", kubectl(t, "auth", "can-i", "create", "customresourcedefinitions"))
	stdout, _, err := controlPlane.Kubectl("auth", "can-i", "list", "secrets", "--as=somebody")
	require.Error(t, err)
	require.Equal(t, "no\n", stdout)
}

func TestControlPlaneWritesAuditLog(t *testing.T) {
	kubectl(t, "create", "configmap", "audited")
	t.Cleanup(func() { kubectl(t, "delete", "configmap", "audited") })

	log, err := os.ReadFile(controlPlane.AuditLog())
	require.NoError(t, err)
	require.Regexp(t, `"verb":"create","user":\{"username":"e2e-admin".*"name":"audited"`, string(log))
}

func TestClusterThatCannotStartSaysWhyAndLeavesNothing(t *testing.T) {
	// Not t.TempDir: its paths are so long that Unix sockets do not fit in.
	temp, err := os.MkdirTemp("", "e2e-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(temp)) })
	t.Setenv("TMPDIR", temp)

	_, err = cluster.Start(t.Context(), cluster.Options{AuditPolicy: "kind: Nonsense"})
	require.ErrorContains(t, err, "start kube-apiserver: it ended before it was ready: exit status 1")
	require.ErrorContains(t, err, "audit-policy.yaml")

	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}
