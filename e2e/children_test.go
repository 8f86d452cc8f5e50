package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSamplesAreAccepted applies each sample, and what its hook asks for.
func TestSamplesAreAccepted(t *testing.T) {
	for i, path := range samples(t) {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			ns := "--namespace=" + namespace(t, "sample-"+string(rune('a'+i)))
			apply(t, read(t, path), ns)
			children := operetta(t, "", "render", path, "--children-only")
			require.NotEmpty(t, children)
			require.Contains(t, apply(t, children, ns, "--dry-run=server"), "created (server dry run)")
		})
	}
}

// TestCasesAreAccepted shows that the API server would take every child of
// every case. Node ports are a cluster's to give, so each case has it alone.
func TestCasesAreAccepted(t *testing.T) {
	paths, err := filepath.Glob("../testdata/*/sync/*.in.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		if strings.HasPrefix(read(t, strings.TrimSuffix(path, ".in.yaml")+".out.yaml"), "# ") {
			continue // it is answered with an error
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".in.yaml"), func(t *testing.T) {
			children := operetta(t, "", "render", path, "--children-only")
			require.Contains(t, apply(t, children, "--dry-run=server"), "created (server dry run)")
		})
	}
}

// TestApplyingTwiceChangesNothing shows that children are in the form in which
// the API server returns them.
func TestApplyingTwiceChangesNothing(t *testing.T) {
	for name, args := range map[string][]string{
		"client-side": nil,
		"server-side": {"--server-side", "--field-manager=metacontroller"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := "--namespace=" + namespace(t, "twice-"+name)
			for _, path := range samples(t) {
				children := operetta(t, "", "render", path, "--children-only")
				apply(t, children, append(args, ns)...)
				before := versions(t, ns)
				output := apply(t, children, append(args, ns)...)
				if name == "client-side" {
					require.NotContains(t, output, "configured")
				}
				require.Equal(t, before, versions(t, ns), path)
				kubectl(t, "delete", "service", "--all", ns) // its node port is wanted by the next
			}
		})
	}
}

// versions returns the generation and the resource version of what there is.
func versions(t *testing.T, ns string) string {
	t.Helper()
	return kubectl(t, "get", "deployments,services", ns,
		`--output=jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.generation} {.metadata.resourceVersion}{"\n"}{end}`)
}
