package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// operetta runs the built binary and returns what it prints.
func operetta(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	command := exec.Command("../bin/operetta", args...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &out, &errOut
	require.NoError(t, command.Run(), "operetta %s: %s (make build makes bin/operetta)", strings.Join(args, " "), errOut.String())
	return out.String()
}

// apply applies a manifest that must be accepted, and returns kubectl's output.
func apply(t *testing.T, manifest string, args ...string) string {
	t.Helper()
	stdout, _, err := controlPlane.KubectlWithInput(manifest, append([]string{"apply", "--filename=-"}, args...)...)
	require.NoError(t, err, manifest)
	return stdout
}

// namespaces counts the namespaces of tests. No controller runs here that would
// finalize a deleted namespace, so each test run needs a new one.
var namespaces atomic.Int32

// namespace creates a namespace of the test's own.
func namespace(t *testing.T, name string) string {
	t.Helper()
	name = fmt.Sprintf("%s-%d", name, namespaces.Add(1))
	kubectl(t, "create", "namespace", name)
	kubectl(t, "create", "serviceaccount", "default", "--namespace="+name)
	return name
}

// prepare installs the CRDs, and creates the ServiceAccount default, without which no
// Pod is admitted: the controller that would create it does not run here.
func prepare() error {
	if err := installCRDs(); err != nil {
		return err
	}
	_, _, err := controlPlane.Kubectl("create", "serviceaccount", "default", "--namespace=default")
	return err
}

// samples are the custom resources that are shipped.
func samples(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"../deploy/samples/*.yaml", "../deploy/samples/seed/*.yaml"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		paths = append(paths, found...)
	}
	require.NotEmpty(t, paths)
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
