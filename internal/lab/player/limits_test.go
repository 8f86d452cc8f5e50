package player

import (
	"fmt"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
)

func textIn(name, text string) []byte {
	return fmt.Appendf(nil, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": %q}, "data": {"a": %q}}`, name, text)
}

func TestThereIsRoomForSoManyObjects(t *testing.T) {
	w := New(Options{})
	for i := range 10_000 - 1 { // and the namespace
		require.NoError(t, w.Apply(textIn(fmt.Sprintf("a%d", i), "")))
	}
	require.NoError(t, w.Delete(kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "a7"}))
	require.NoError(t, w.Apply(textIn("another", "")), "a place that is free again")
	require.NoError(t, w.Play())
	const says = "the simulated cluster is full: ConfigMap/more is one more than 10000 objects: simulate something smaller"
	require.EqualError(t, w.Apply(textIn("more", "")), says)
	require.EqualError(t, w.Play(), says)
}
