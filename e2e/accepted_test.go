package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The following run the tests of their names in hooks/ against the API server: what makes
// the children belongs to the product's module, which requires other versions of some
// modules than the control plane is built from.

func TestChildrenAreAccepted(t *testing.T) { runInHooks(t, "different children created") }

func TestRulesRefuseWhatTheySayAndNothingElse(t *testing.T) { runInHooks(t, "rules asked for") }

func TestServerKeepsChildrenAsTheyAreWritten(t *testing.T) { runInHooks(t, "children written") }

// testsOfHooks builds the tests of hooks/ once, and returns the path of the program.
var testsOfHooks = sync.OnceValues(func() (string, error) {
	path := filepath.Join(controlPlane.Dir, "hooks.test")
	build := exec.Command("go", "test", "-c", "-o", path, "./hooks")
	build.Dir = ".."
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return path, nil
})

// runInHooks runs the test of the same name, which has to print something.
func runInHooks(t *testing.T, printed string) {
	path, err := testsOfHooks()
	require.NoError(t, err)
	test := exec.Command(path, "-test.timeout=4h", "-test.v", "-test.run=^"+t.Name()+"$")
	test.Dir = filepath.Join("..", "hooks")
	test.Env = append(os.Environ(), "OPERETTA_TEST_KUBECONFIG="+controlPlane.Kubeconfig)
	output, err := test.CombinedOutput()
	t.Logf("%s", output)
	require.NoError(t, err)
	require.Contains(t, string(output), printed)
	require.NotContains(t, string(output), "--- SKIP")
}
