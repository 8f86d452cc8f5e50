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
	require.Equal(t, "a toy", string(find("toy").Text()))
	require.Same(t, find("toy"), find("toy"))
	for _, kind := range []string{"kustomization", "README.md", "game"} {
		require.Nil(t, find(kind), kind)
	}
	require.Nil(t, CRDs(fstest.MapFS{}, "crds")("toy"))
}

// TestACRDIsCompiledOnce: a Controller is a value that is made anew often.
func TestACRDIsCompiledOnce(t *testing.T) {
	c := validated(sayHello)
	first, err := c.Schema()
	require.NoError(t, err)
	again, err := validated(sayHello).Schema()
	require.NoError(t, err)
	require.Same(t, first, again)

	c.Parent.APIVersion = "example.com/v2"
	_, err = c.Schema()
	require.ErrorContains(t, err, "has no version v2")
	c.CRD = nil
	none, err := c.Schema()
	require.NoError(t, err)
	require.Nil(t, none)
	require.Nil(t, c.CRD.Text())
}
