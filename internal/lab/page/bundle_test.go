package page

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheBundleIsSmall is about what a browser loads, compressed.
func TestTheBundleIsSmall(t *testing.T) {
	for _, part := range []struct {
		name  string
		files []string
		most  int
	}{
		{"the page", []string{"index.html", "play.js", "play.css"}, 200 << 10},
		{"the player of an exported file", []string{"player.js", "player.css"}, 60 << 10},
	} {
		length := 0
		for _, name := range part.files {
			var packed bytes.Buffer
			writer := gzip.NewWriter(&packed)
			_, err := writer.Write([]byte(text(name)))
			require.NoError(t, err)
			require.NoError(t, writer.Close())
			length += packed.Len()
		}
		t.Logf("%s: %d bytes", part.name, length)
		assert.Less(t, length, part.most, part.name)
	}
}
