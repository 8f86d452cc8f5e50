package e2e

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// The following run the tests of their names in hooks/ against the API server: what makes
// the children belongs to the product's module, which requires other versions of some
// modules than the control plane is built from.

func TestChildrenAreAccepted(t *testing.T) { runInHooks(t, "different children created") }

func TestRefusalsAreShort(t *testing.T) { runInHooks(t, "the longest refusal has") }

// runInHooks runs the test of the same name, which has to print something.
func runInHooks(t *testing.T, printed string) {
	test := exec.Command("go", "test", "-count=1", "-timeout=4h", "-v", "-run=^"+t.Name()+"$", "./hooks")
	test.Dir = ".."
	test.Env = append(os.Environ(), "OPERETTA_TEST_KUBECONFIG="+controlPlane.Kubeconfig)
	output, err := test.CombinedOutput()
	t.Logf("%s", output)
	require.NoError(t, err)
	require.Contains(t, string(output), printed)
	require.NotContains(t, string(output), "--- SKIP")
}
