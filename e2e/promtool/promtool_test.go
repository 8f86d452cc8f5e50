// These tests hold the alert rules to Prometheus' own tool.
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

// TestAlerts are valid, and fire when they should and not otherwise. The tool is built
// without service discovery, which no rule needs, and which go tool would build.
func TestAlerts(t *testing.T) {
	promtool := filepath.Join(t.TempDir(), "promtool")
	run(t, "go", "build", "-tags", "remove_all_sd", "-o", promtool, "github.com/prometheus/prometheus/cmd/promtool")
	run(t, promtool, "check", "rules", "--lint=all", "--lint-fatal", "../../deploy/monitoring/rules.yaml")
	run(t, promtool, "test", "rules", "../../deploy/monitoring/rules.test.yaml")
}
