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

func TestMain(m *testing.M) {
	if err := cluster.Build(context.Background(), ".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(cluster.RunTests(m, cluster.Options{}, func(c *cluster.Cluster) error {
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
