// These tests check the alert rules with promtool.
package promtool_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, string(out))
	t.Log(string(out))
}

// TestAlerts: the rules are valid, and the alerts fire exactly when expected. promtool is
// built without service discovery, which the rules do not need.
func TestAlerts(t *testing.T) {
	promtool := filepath.Join(t.TempDir(), "promtool")
	run(t, "go", "build", "-tags", "remove_all_sd", "-o", promtool, "github.com/prometheus/prometheus/cmd/promtool")
	run(t, promtool, "check", "rules", "--lint=all", "--lint-fatal", "../../deploy/monitoring/rules.yaml")
	run(t, promtool, "test", "rules", "../../deploy/monitoring/rules.test.yaml")
}
