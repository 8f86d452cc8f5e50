package apiserver

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/operetta-dev/operetta/internal/crd"
)

// TestScopesOfKubernetesAreKnown for each kind of k8s.io/api.
func TestScopesOfKubernetesAreKnown(t *testing.T) {
	known := 0
	for kind := range scheme.Scheme.AllKnownTypes() {
		if kind.Version == "__internal" {
			continue
		}
		known++
		require.NotEmpty(t, crd.ScopeOf(kind.Group, kind.Kind), kind)
	}
	require.Greater(t, known, 200)
}
