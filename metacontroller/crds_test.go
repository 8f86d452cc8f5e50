package metacontroller

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestCRDsAreFoundByKind(t *testing.T) {
	find := CRDs(fstest.MapFS{
		"crds/toy.yaml":           {Data: []byte("a toy")},
		"crds/kustomization.yaml": {Data: []byte("resources: [toy.yaml]")},
		"crds/README.md":          {Data: []byte("no CRD")},
	}, "crds")
	require.Equal(t, "a toy", string(find("toy")))
	require.Same(t, &find("toy")[0], &find("toy")[0], "what is compiled once is known by its address")
	for _, kind := range []string{"kustomization", "README.md", "game"} {
		require.Nil(t, find(kind), kind)
	}
	require.Nil(t, CRDs(fstest.MapFS{}, "crds")("toy"))
}
