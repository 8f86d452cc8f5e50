package e2e

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChildrenAreAccepted runs the test of that name in hooks/ against the API
// server: what makes the children belongs to the product's module, which requires
// other versions of some modules than the control plane is built from.
func TestChildrenAreAccepted(t *testing.T) {
	test := exec.Command("go", "test", "-count=1", "-timeout=4h", "-v", "-run=^TestChildrenAreAccepted$", "./hooks")
	test.Dir = ".."
	test.Env = append(os.Environ(), "OPERETTA_TEST_KUBECONFIG="+controlPlane.Kubeconfig)
	output, err := test.CombinedOutput()
	t.Logf("%s", output)
	require.NoError(t, err)
	require.Contains(t, string(output), "different children created")
	require.NotContains(t, string(output), "--- SKIP")
}
