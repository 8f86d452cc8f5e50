package tools

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuildReusesBinaryInCache(t *testing.T) {
	root := t.TempDir()
	t.Setenv(CacheVariable, root)
	dir, err := cacheDir(t.Context())
	require.NoError(t, err)
	require.Equal(t, root, filepath.Dir(dir), "the variable must move the cache")
	version, err := goCommand(t.Context(), "list", "-m", "-f", "{{.Version}}", Kubectl.Module)
	require.NoError(t, err)
	binary := filepath.Join(dir, "kubectl-"+version)
	require.NoError(t, os.WriteFile(binary, []byte("built before"), 0o755))

	paths, err := Build(t.Context(), Kubectl)
	require.NoError(t, err)
	require.Equal(t, map[Tool]string{Kubectl: binary}, paths)
}

func TestFailedBuildSaysWhyAndLeavesNoBinary(t *testing.T) {
	t.Setenv(CacheVariable, t.TempDir())
	broken := Tool{Name: "broken", Package: "k8s.io/kubernetes/cmd/no-such-program", Module: kubernetesModule}

	_, err := Build(t.Context(), broken)
	require.ErrorContains(t, err, "build broken: go build: ")
	require.ErrorContains(t, err, "no-such-program")

	dir, err := cacheDir(t.Context())
	require.NoError(t, err)
	binaries, err := filepath.Glob(filepath.Join(dir, "broken-*"))
	require.NoError(t, err)
	require.Empty(t, binaries)
}

func TestLinkerFlagsCarryKubernetesVersion(t *testing.T) {
	flags := KubeAPIServer.linkerFlags("v1.36.3")
	require.Contains(t, flags, "-X k8s.io/component-base/version.gitVersion=v1.36.3")
	require.Contains(t, flags, "-X k8s.io/component-base/version.gitMajor=1")
	require.Contains(t, flags, "-X k8s.io/component-base/version.gitMinor=36")
	require.Equal(t, "-s -w", Etcd.linkerFlags("v3.6.8"))
}
