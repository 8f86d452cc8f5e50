package compact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/compact"
)

// TestNamespaceIsThatOfTheParent, and of nothing that is named like it.
func TestNamespaceIsThatOfTheParent(t *testing.T) {
	strange := `{"labels":{"namespace":"x"},"annotations":{"a":"\"},\"namespace\":\"x"},"generation":3,"finalizers":["namespace"],"name":"n","namespace":"mine"}`
	request := ` {"controller":{"metadata":{"namespace":"x"}}, "parent" : {"kind":"K","n":-1.5e3, "metadata" : ` + strange + `,"spec":{"namespace":"x"}},"children":{}}`
	require.True(t, json.Valid([]byte(request)))
	require.Equal(t, "mine", compact.Namespace([]byte(request)))
	needed := strings.Index(request, `"mine"`) + len(`"mine"`)
	for length := range len(request) {
		want := ""
		if length >= needed {
			want = "mine"
		}
		require.Equal(t, want, compact.Namespace([]byte(request)[:length]), length)
	}
	for _, other := range []string{
		`{"parent":{"metadata":{"name":"n"}},"children":{"metadata":{"namespace":"x"}}}`, `{"parent":null}`, `{"parent":3}`, `{"parent"}`, `{"parent":}`,
		`{"parent":{"metadata":{"namespace":3}}}`, `{"parent":{"metadata":{"namespace":{}}}}`, `[{"parent":{}}]`, `{{`, `{3:4}`, `nothing`, `{"a" "b" "c"`,
		`{"parent":{"metadata":{"namespace":"` + strings.Repeat("x", 64) + `"}}}`,
	} {
		require.Empty(t, compact.Namespace([]byte(other)), other)
	}
}
