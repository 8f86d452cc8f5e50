package apiserver

import (
	"os"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestObjectsAreStoredAsARealServerDoes compares with what a real API server
// has answered. Unlike e2e/defaults, which compares the defaults alone and far more
// of them, it has what is allocated and what admission adds, and runs in no time.
func TestObjectsAreStoredAsARealServerDoes(t *testing.T) {
	recorded, err := os.ReadFile("testdata/stored.yaml")
	require.NoError(t, err)
	documents := strings.Split(string(recorded), "\n---\n")
	require.Greater(t, len(documents), 20)
	for _, document := range documents {
		pair := parse(t, document)
		written := &unstructured.Unstructured{Object: pair["written"].(map[string]any)}
		t.Run(kube.RefOf(written).String(), func(t *testing.T) {
			s := emptyServer()
			s.uids = 1 // the recorded uid is the second
			stored, err := put(t, s, written.Object)
			require.NoError(t, err)
			require.Equal(t, pair["stored"], withoutVersion(stored))
		})
	}
}

// withoutVersion leaves out what depends on when an object is stored.
func withoutVersion(object kube.Object) map[string]any {
	content := object.DeepCopy().Object
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp"} {
		delete(content["metadata"].(map[string]any), field)
	}
	return content
}
