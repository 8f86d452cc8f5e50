package apiserver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPlaceIsFreeWhenAllIsGone(t *testing.T) {
	s := emptyServer()
	note := func(name, text string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"a": text},
		}
	}
	_, err := put(t, s, note("a", "text"))
	require.NoError(t, err)
	held := s.text
	for range 3 { // an edit takes the place of what was there
		for _, text := range []string{"another text", "another text of its own"} {
			_, err := put(t, s, note("b", text))
			require.NoError(t, err)
		}
	}
	require.Greater(t, s.text, held)
	require.NoError(t, s.Delete(ByHand, Ref{"v1", "ConfigMap", "default", "b"}, ""))
	require.Equal(t, held, s.text)
}
