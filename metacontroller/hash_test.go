package metacontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stampOf returns the hash that a child gets.
func stampOf(t *testing.T, child Object) string {
	t.Helper()
	require.NoError(t, Stamp(child))
	return child.GetAnnotations()[HashAnnotation]
}

// TestStampIsWrittenOnce: the wire form carries the hash at once, wherever else its key stands.
func TestStampIsWrittenOnce(t *testing.T) {
	child := configMap("a")
	child.Data = map[string]string{HashAnnotation: noHash}
	child.Annotations = map[string]string{"a": "b"}
	shared := child.Annotations
	_, desired, err := encode(nil, child)
	require.NoError(t, err)
	require.NotEqual(t, noHash, desired.hash)
	require.JSONEq(t, `{"apiVersion":"v1","kind":"ConfigMap","data":{"operetta.dev/hash":"`+noHash+`"},
		"metadata":{"name":"a","annotations":{"a":"b","operetta.dev/hash":"`+desired.hash+`"}}}`, string(desired.wire))
	require.NotContains(t, shared, HashAnnotation, "annotations may be shared")
	_, again, err := encode(nil, child)
	require.NoError(t, err)
	require.Equal(t, desired, again)
	other := configMap("a")
	require.NotEqual(t, desired.hash, stampOf(t, other))
	require.Equal(t, stampOf(t, configMap("a")), stampOf(t, other))
}

func TestHashKnowsContentOnly(t *testing.T) {
	config := func(value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: map[string]string{"kept": "yes"}},
			Data:       map[string]string{"key": value},
		}
	}
	one, err := Hash(config("1"))
	require.NoError(t, err)
	require.Len(t, one, 16)
	two, err := Hash(config("2"))
	require.NoError(t, err)
	require.NotEqual(t, one, two)

	object := config("1")
	stamp := stampOf(t, object)
	require.Equal(t, map[string]string{"kept": "yes", HashAnnotation: stamp}, object.Annotations)
	again, err := Hash(object)
	require.NoError(t, err)
	require.Equal(t, one, again, "the hash does not know itself")
	require.Equal(t, stamp, object.Annotations[HashAnnotation], "Hash leaves the object as it was")

	// Pinned: a hash that changes with a new version would mark every child of
	// every cluster as outdated.
	require.Equal(t, "8cd06ff4a9e42e66", one)
	require.Equal(t, "4087480ba303a183", stamp)
}
