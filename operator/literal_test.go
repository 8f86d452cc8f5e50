package operator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLiteral expands as the kubelet does, see k8s.io/kubernetes
// third_party/forked/golang/expansion.
func TestLiteral(t *testing.T) {
	expand := func(text string) string {
		var expanded strings.Builder
		for i := 0; i < len(text); i++ {
			if text[i] == '$' && i+1 < len(text) && (text[i+1] == '$' || text[i+1] == '(') {
				if text[i+1] == '(' {
					expanded.WriteString("EXPANDED")
				}
				i++
				if text[i] == '(' {
					continue
				}
			}
			expanded.WriteByte(text[i])
		}
		return expanded.String()
	}
	for _, text := range []string{"", "$", "$$", "$$$", "echo $HOME", "$(HOME)", "$$(HOME)", "a$(b)$$c$", "'$1' \"$@\" $(git log)"} {
		require.Equal(t, text, expand(Literal(text)))
	}
}

func TestImagesOfPoliciesAreChecked(t *testing.T) {
	require.NoError(t, CheckImage("image", "registry.example.com:5000/a/b:1@sha256:"+strings.Repeat("0", 64)))
	require.EqualError(t, CheckImage("image", ""), "image: it is empty: write an image, or leave it out")
	for _, image := range []string{" a", "a b", "a:b:c", "Registry/Name", "a@sha256:0", strings.Repeat("a/", 520)} {
		require.EqualError(t, CheckImage("image", image), fmt.Sprintf("image: %.60q is no image: write one like registry.example.com/name:tag", image))
	}
}
