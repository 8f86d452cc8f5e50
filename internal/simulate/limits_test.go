package simulate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

func textIn(name, text string) []byte {
	return fmt.Appendf(nil, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": %q}, "data": {"a": %q}}`, name, text)
}

func TestThereIsRoomForSoManyObjects(t *testing.T) {
	w := New(Options{})
	for i := range 10_000 - 1 { // and the namespace
		require.NoError(t, w.Apply(textIn(fmt.Sprintf("a%d", i), "")))
	}
	require.NoError(t, w.Delete(Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "a7"}))
	require.NoError(t, w.Apply(textIn("another", "")), "a place that is free again")
	require.NoError(t, w.Play())
	const says = "the simulated cluster is full: ConfigMap/more is one more than 10000 objects: simulate something smaller"
	require.EqualError(t, w.Apply(textIn("more", "")), says)
	require.EqualError(t, w.Play(), says)
}

func TestThereIsRoomForSoMuchText(t *testing.T) {
	const parts = 4
	w := New(Options{})
	note := func(name string) error {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Note", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"text": strings.Repeat("x", 128<<20/parts-1<<10)},
		}}
		_, err := w.server.Create(apiserver.ByUser, object)
		return err
	}
	for i := range parts {
		require.NoError(t, note(fmt.Sprintf("a%d", i)))
	}
	require.NoError(t, w.Play())
	require.NoError(t, note("more"), "it is known when it is there")
	const says = "the simulated cluster is full: with Note/more its objects have more than 128 MiB: simulate something smaller"
	require.EqualError(t, w.Play(), says)
	require.EqualError(t, note("yet-more"), says)
}
